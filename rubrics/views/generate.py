"""The page that generates a rubric: its form, the model's work, its proposal."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_POST

from assay.data.text import Sentence
from assay.scoring.rubric.generate import Source, can_generate, warnings_of
from rubrics import generate, proposals, sources, trying
from rubrics.generate_form import CATEGORIES, LEVELS, GenerateForm, base_of, models_in
from rubrics.models import RubricJob
from rubrics.sources import ReferenceFile, Upload, file_of
from rubrics.views.limits import FileLimit, limit_files, uploads_in
from targets.models import Deployment
from workspace.htmx import render_page
from workspace.models import JobState, Role
from workspace.scoping import PortalRequest, find, project_view
from workspace.sentences import say

PAGE = "rubrics/generate.html"
WAITING_LONG = timedelta(seconds=15)


@dataclass(slots=True)
class Desk:
    """What lies on the page: the form, the files it holds on to, what is wrong."""

    form: GenerateForm
    files: list[ReferenceFile] = field(default_factory=list)
    file_problems: list[Sentence] = field(default_factory=list)
    problem: str = ""
    job: RubricJob | None = None


@csrf_exempt  # the limit must be in place before the check reads the body
def rubric_generate(request: HttpRequest, project: str) -> HttpResponse:
    limit = limit_files(request)
    return _generate(request, project=project, limit=limit)


@csrf_protect
@project_view(role=Role.EDITOR)
@never_cache
def _generate(request: PortalRequest, limit: FileLimit) -> HttpResponse:
    posted = request.POST if request.method == "POST" else None
    base = base_of(request.project, request.GET if posted is None else posted)
    models = models_in(request.project)
    initial = {"prompt": base.prompt, **request.GET.dict()}
    form = GenerateForm(request.project, models, base, posted, initial=initial)
    desk = Desk(form)
    if posted is None:
        desk.files = _held(base.files)
        return _show(request, desk)
    action, _colon, sha256 = posted.get("do", "generate").partition(":")
    kept = _held(posted.getlist("kept"))
    desk.files = [file for file in kept if file.sha256 != sha256]
    uploads = uploads_in(request, limit)
    if action != "generate":
        form.errors.clear()
        _add_files(request, desk, uploads)
        return _show(request, desk)
    return _start(request, desk, uploads)


def _held(tokens: Iterable[str]) -> list[ReferenceFile]:
    return [file for token in tokens if (file := file_of(token)) is not None]


def _add_files(request: PortalRequest, desk: Desk, uploads: list[Upload]) -> None:
    """Read new files. What is there already was read before."""
    if not uploads:
        return
    room = sources.MOST_FILES - len(desk.files)
    found, desk.file_problems = sources.read_files(
        uploads, project=request.project, most=room
    )
    known = {file.sha256 for file in desk.files}
    desk.files += [file for file in found if file.sha256 not in known]


def _start(request: PortalRequest, desk: Desk, uploads: list[Upload]) -> HttpResponse:
    """Queue the job, or show what stands against it; files are kept in any case."""
    form = desk.form
    before = [Upload(file.name, sha256=file.sha256) for file in desk.files]
    desk.files, desk.file_problems = sources.read_files(
        [*before, *uploads], project=request.project
    )
    if not form.is_valid() or desk.file_problems:
        return _show(request, desk, status=422)
    wish = form.wish()
    given = sources.prompt_source(wish.prompt)
    given += [file.source() for file in desk.files]
    if not can_generate(given):
        desk.problem = _("Paste a system prompt or add a reference file.")
        return _show(request, desk, status=422)
    wish = wish.with_sources(given).model_copy(
        update={"files": tuple(file.token for file in desk.files)}
    )
    model = form.chosen()
    assert model is not None
    try:
        job = generate.submit(request.project, wish, model=model, by=request.user)
    except generate.TooManyError as error:
        desk.problem = str(error)
        return _show(request, desk, status=422)
    return redirect(_address(job))


def _address(job: RubricJob) -> str:
    args = [job.project.slug, job.ref]
    return reverse("rubric_generation", args=args) + "#proposal"


def _job_in(request: PortalRequest, ref: str) -> RubricJob:
    jobs = RubricJob.objects.filter(
        project=request.project, kind=RubricJob.Kind.GENERATE
    )
    message = _("This proposal does not exist any more.")
    related = ("project", "deployment__connection", "by")
    return find(jobs.select_related(*related), message, ref=ref)


@project_view(role=Role.EDITOR)
@never_cache
def rubric_generation(request: PortalRequest, ref: str) -> HttpResponse:
    """The form as it was sent, and beside it what became of it."""
    job = _job_in(request, ref)
    wish = generate.wish_of(job)
    initial = {
        **wish.model_dump(include={"category", "level", "name", "title", "prompt"}),
        "model": job.deployment.ref if job.deployment else "",
    }
    form = GenerateForm(
        request.project, models_in(request.project), wish, initial=initial
    )
    desk = Desk(form, _held(wish.files), job=job)
    return _show(request, desk, partial="proposal")


@require_POST
@project_view(role=Role.EDITOR)
def rubric_generation_cancel(request: PortalRequest, ref: str) -> HttpResponse:
    job = _job_in(request, ref)
    trying.cancel(job)
    return redirect(_address(job))


@require_POST
@project_view(role=Role.EDITOR)
def rubric_generation_take(request: PortalRequest, ref: str) -> HttpResponse:
    """Make a draft of the chosen dimensions and open it in the editor."""
    job = _job_in(request, ref)
    if job.state != JobState.DONE:
        return redirect(_address(job))
    marks = request.POST.getlist("take")
    if not marks:
        messages.warning(request, _("Choose at least one dimension."))
        return redirect(_address(job))
    draft = proposals.take(job, marks, by=request.user)
    messages.success(
        request, _("The proposal is in the editor. Nothing is saved as a version yet.")
    )
    return redirect("rubric_draft", request.project.slug, draft.ref)


def _show(
    request: PortalRequest, desk: Desk, *, partial: str | None = None, status: int = 200
) -> HttpResponse:
    form = desk.form
    outline = sources.prompt_source(form.typed_prompt())
    outline += [file.outline() for file in desk.files]
    model = form.chosen()
    context = {
        "desk": desk,
        "form": form,
        "base": form.base,
        "action": reverse("rubric_generate", args=[request.project.slug]),
        "is_again": "category" not in form.fields,
        "problems": _problems(desk),
        "file_sentences": [say(sentence) for sentence in desk.file_problems],
        "accept": sources.ACCEPT,
        "most_files": sources.MOST_FILES,
        "most_bytes": sources.MOST_BYTES,
        "characters": len(form.typed_prompt()),
        "is_started": bool(outline),
        "warnings": _warnings(outline),
        "blind": _blind(model, outline),
        "model": model,
        "estimate": model and generate.expected(form.loosely(), outline, model),
        "words": {
            "category": dict(CATEGORIES)[form.base.category],
            "level": dict(LEVELS)[form.base.level],
        },
        **_job_context(desk.job),
    }
    return render_page(request, PAGE, context, partial=partial, status=status)


def _problems(desk: Desk) -> list[dict[str, str]]:
    """What stands against generating, for the summary on top."""
    form = desk.form
    found = [
        {"text": str(error), "href": f"#id_{name}"}
        for name, errors in (form.errors.items() if form.is_bound else ())
        for error in errors
    ]
    found += [{"text": say(s), "href": "#files"} for s in desk.file_problems]
    if desk.problem:
        found.append({"text": desk.problem, "href": "#id_prompt"})
    return found


def _warnings(given: list[Source]) -> list[str]:
    """What may be too little; each names its source."""
    found = []
    for warning in warnings_of(given) if given else ():
        index = warning.source_index
        named = index is not None and warning.source == "dataset"
        name = f"{given[index].name}: " if named and index is not None else ""
        found.append(name + say(_translated(warning.sentence)))
    return found


def _translated(sentence: Sentence) -> Sentence:
    """Parameters that are words of the library in the reader's language."""
    params = {
        key: say(Sentence(value)) if isinstance(value, str) else value
        for key, value in sentence.params.items()
    }
    return Sentence(sentence.message, params)


def _blind(model: Deployment | None, given: list[Source]) -> int:
    """How many images the chosen model will not see."""
    if model is None or model.can_read("image") is not False:
        return 0
    return sources.image_count(given)


def _job_context(job: RubricJob | None) -> dict[str, Any]:
    if job is None:
        return {"job": None}
    waited = timezone.now() - job.created_at
    context: dict[str, Any] = {
        "job": job,
        "wish": generate.wish_of(job),
        "waits_long": job.state == JobState.QUEUED and waited > WAITING_LONG,
    }
    if job.state == JobState.DONE:
        proposal = proposals.proposal_of(job)
        given = context["wish"].given()
        context |= {
            "proposal": proposal,
            "proposed": sum(not p.is_removed for p in proposal),
            "has_removed": any(p.is_removed for p in proposal),
            "notes": [say(note) for note in generate.notes_of(job)],
            "poor": _warnings(given),
            "based_on": [_(s.name) if s.kind == "prompt" else s.name for s in given],
        }
    return context
