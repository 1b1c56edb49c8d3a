"""The editor of a draft: every save, every button, the way to a version."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache

from assay.scoring.rubric.exchange import UnreadableError, read_json
from rubrics import queries, saving, trycard, trying
from rubrics.documents import Document, from_json, read
from rubrics.editing import CHANGES
from rubrics.jsontext import DEFINITION, text_of
from rubrics.models import RubricDraft
from rubrics.posted import document_from
from rubrics.views import editor
from rubrics.views.start import tell_notes
from workspace.htmx import go, is_partial, render_page
from workspace.models import Role
from workspace.scoping import PortalRequest, project_view
from workspace.sentences import say


def draft_url(draft: RubricDraft, tab: str = "") -> str:
    address = reverse("rubric_draft", args=[draft.project.slug, draft.ref])
    return f"{address}?tab={tab}" if tab else address


@project_view(role=Role.EDITOR)
@never_cache
def rubric_draft(request: PortalRequest, ref: str) -> HttpResponse:
    if request.method != "POST":
        draft = queries.draft_in(request.project, ref)
        return editor.show(request, draft, saving.document_of(draft))
    found = queries.drafts_in(request.project).filter(ref=ref).first()
    if found is None:
        return _gone(request)
    draft = found
    action, _colon, key = request.POST.get("do", "save").partition(":")
    if action == "json":
        return _apply_json(request, draft)
    document = document_from(request.POST, saving.document_of(draft))
    if action in CHANGES:
        document = CHANGES[action](document, key)
    saved = save(request, draft, document)
    if isinstance(saved, HttpResponse):
        return saved
    if action == "publish":
        return _publish(request, saved, document, key)
    if action == "try":
        return _try(request, saved, document)
    if action == "cancel":
        trying.cancel(queries.job_in(request.project, key))
    return _saved(request, saved, document, action)


def save(
    request: PortalRequest, draft: RubricDraft, document: Document
) -> RubricDraft | HttpResponse:
    """The saved draft, or the page that tells of another save."""
    post = request.POST
    action, _colon, known = post.get("do", "").partition(":")
    revision = known if action == "overwrite" else post.get("revision", "")
    try:
        return saving.save_draft(
            draft,
            document,
            revision=_number(revision) or 0,
            page=post.get("page", "")[:32],
        )
    except saving.ConflictError as conflict:
        return editor.show(request, draft, document, conflict=conflict.draft)
    except RubricDraft.DoesNotExist:
        return _gone(request)


def _number(text: str) -> int | None:
    """The whole number of a form field, None for anything else."""
    return int(text) if text.isdecimal() and len(text) < 10 else None


def _gone(request: PortalRequest) -> HttpResponse:
    """The draft was saved as a version or discarded elsewhere; what was typed here is
    shown, to be kept."""
    document = document_from(request.POST, Document())
    text = request.POST.get("json") or text_of(document, DEFINITION)
    context = {"document": document, "json_text": text}
    if is_partial(request):
        answer = render_page(request, "rubrics/_gone.html", context, status=422)
        answer["HX-Retarget"], answer["HX-Reswap"] = "#editor", "outerHTML"
        return answer
    return render(request, "rubrics/gone.html", context, status=404)


def _saved(
    request: PortalRequest, draft: RubricDraft, document: Document, action: str
) -> HttpResponse:
    if request.POST.get("do") == "auto" and is_partial(request):
        return editor.show_saved(request, draft, document)
    if is_partial(request):
        return editor.show(request, draft, document)
    if action in ("save", "overwrite"):
        messages.success(request, _("The draft is saved."))
    return redirect(draft_url(draft))


def _publish(
    request: PortalRequest, draft: RubricDraft, document: Document, known: str
) -> HttpResponse:
    try:
        version = saving.publish(draft, by=request.user, knows_of=_number(known))
    except saving.NotReadyError:
        return editor.show(request, draft, document, is_strict=True)
    except saving.NothingChangedError as same:
        return editor.show(request, draft, document, same=same.version)
    except saving.NewerVersionError as newer:
        return editor.show(request, draft, document, newer=newer.version)
    text = _("%(name)s v%(number)d is saved. Runs can use it now.")
    named = {"name": version.evaluator.name, "number": version.number}
    messages.success(request, text % named)
    args = [request.project.slug, version.evaluator.ref]
    return go(request, reverse("rubric", args=args))


def _try(
    request: PortalRequest, draft: RubricDraft, document: Document
) -> HttpResponse:
    """Asks for a try of what was just saved; it needs no name."""
    spec, _problems = read(document)
    if spec is None:
        return editor.show(request, draft, document, is_strict=True)
    form = trycard.context(draft, request.POST)["try_form"]
    if form is None or not form.is_valid():
        return editor.show(request, draft, document, try_form=form)
    try:
        trying.ask(
            draft,
            spec,
            rows=form.chosen_version,
            indexes=form.indexes,
            judge=form.chosen_judge,
            by=request.user,
        )
    except trying.TooManyError as error:
        return editor.show(request, draft, document, try_problem=str(error))
    if is_partial(request):
        return editor.show(request, draft, document)
    return redirect(f"{draft_url(draft)}#try")


def _apply_json(request: PortalRequest, draft: RubricDraft) -> HttpResponse:
    text = request.POST.get("json", "")
    before = saving.document_of(draft)
    try:
        found = read_json(text)
    except UnreadableError as error:
        return editor.show(
            request, draft, before, json_text=text, json_problem=say(error.sentence)
        )
    document = from_json(found, before)
    saved = save(request, draft, document)
    if isinstance(saved, HttpResponse):
        return saved
    tell_notes(request, found)
    messages.success(request, _("The JSON is applied."))
    return redirect(draft_url(saved))


@project_view(role=Role.EDITOR)
def rubric_draft_discard(request: PortalRequest, ref: str) -> HttpResponse:
    """Asks on GET, discards on POST."""
    draft = queries.draft_in(request.project, ref)
    if request.method == "POST":
        evaluator = draft.evaluator
        saving.discard(draft)
        messages.success(request, _("The draft is discarded."))
        if evaluator is not None:
            return redirect("rubric", request.project.slug, evaluator.ref)
        return redirect("evaluators", request.project.slug)
    context = {"draft": draft, "name": draft.document.get("name")}
    return render(request, "rubrics/discard.html", context)
