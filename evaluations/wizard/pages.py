"""What each step's page shows, and what its form says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.http import HttpResponse, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _

from assay.data.chat import ModelError
from assay.data.jsonx import JSONObject
from assay.data.text import Sentence, gettext_noop
from assay.running.spec import (
    EvaluationSpec,
    Problem,
    Step,
    Surroundings,
    TargetSpec,
    problems,
)
from assay.running.targets import build_request
from datasets.models import Dataset, DatasetVersion
from evaluations.forms.target import TargetForm
from evaluations.models import EvaluationDraft, Run
from evaluations.surroundings import View, deployments_of, known_paths
from evaluations.wizard import criteria, mapping
from evaluations.wizard.stepper import LABELS, step_url
from evaluations.wizard.values import described, shown_messages
from targets.models import TestCall
from targets.testcalls import ask
from workspace.models import Project
from workspace.scoping import PortalRequest, find
from workspace.sentences import say


def run_url(run: Run) -> str:
    evaluation = run.evaluation
    return reverse("run", args=[evaluation.project.slug, evaluation.slug, run.number])


def prefilled(
    project: Project, query: Mapping[str, str]
) -> tuple[EvaluationSpec, Step]:
    """Coming from a model or a dataset, that is chosen already."""
    spec = EvaluationSpec()
    model, dataset = query.get("model", ""), query.get("dataset", "")
    if model in deployments_of(project):
        target = TargetSpec(kind="model", deployment=model)
        spec = spec.model_copy(update={"target": target})
    if DatasetVersion.objects.filter(ref=dataset, dataset__project=project).exists():
        spec = spec.model_copy(update={"dataset_version": dataset})
    return spec, "target"


def read_step(
    step: Step, spec: EvaluationSpec, post: QueryDict, view: View
) -> tuple[EvaluationSpec, list[Problem]]:
    """The spec with what a step posted, and what of it could not be read."""
    if step == "target":
        return _read_target(spec, post, view)
    if step == "data":
        chosen = post.get("dataset", spec.dataset_version)
        return spec.model_copy(update={"dataset_version": chosen}), []
    if step == "criteria":
        return criteria.read(spec, post, view)
    if step == "mapping":
        return mapping.read(spec, post), []
    return _read_review(spec, post)


def _read_target(
    spec: EvaluationSpec, post: QueryDict, view: View
) -> tuple[EvaluationSpec, list[Problem]]:
    form = TargetForm(_with_defaults(post, spec), deployments=view.deployments)
    if form.is_valid():
        return spec.model_copy(update={"target": form.spec()}), []
    found = [
        Problem("invalid", "target", name, Sentence(f"{form.fields[name].label}: {e}"))
        for name, messages in form.errors.items()
        for e in messages
    ]
    return spec, found


def _with_defaults(post: QueryDict, spec: EvaluationSpec) -> QueryDict:
    """Fields that the page did not show keep their value."""
    full = post.copy()
    known = (spec.target or TargetSpec()).model_dump()
    for name, value in known.items():
        if name not in full:
            full[name] = "" if value is None else str(value)
    return full


def _read_review(
    spec: EvaluationSpec, post: QueryDict
) -> tuple[EvaluationSpec, list[Problem]]:
    update: dict[str, Any] = {
        "name": post.get("name", spec.name).strip(),
        "run_name": post.get("run_name", spec.run_name).strip()[:120],
    }
    text = post.get("max_cost", "").strip().replace(",", ".").lstrip("$")
    if "max_cost" in post:
        update["max_cost"] = None
        try:
            update["max_cost"] = _positive(text) if text else None
        except ValueError:
            sentence = Sentence(gettext_noop("Cost limit: enter an amount above 0."))
            problem = Problem("max_cost", "review", "max_cost", sentence)
            return spec.model_copy(update={**update}), [problem]
    return spec.model_copy(update=update), []


def _positive(text: str) -> float:
    value = float(text)
    if not 0 < value < 1e9:
        raise ValueError(text)
    return value


def linked(
    wrong: list[Problem], draft: EvaluationDraft, step: Step
) -> list[dict[str, str]]:
    """Problems with links to their fields, on this page or on their step's."""
    return [
        {
            "text": say(p.sentence),
            "href": f"#{p.field}"
            if p.step == step
            else f"{step_url(draft, p.step)}#{p.field}",
        }
        for p in wrong
    ]


def warnings(found: list[Problem], step: Step) -> list[str]:
    """What does not block Submit but should be known, on its step and at review."""
    texts = [
        say(p.sentence)
        for p in found
        if p.severity == "warning" and step in (p.step, "review")
    ]
    return list(dict.fromkeys(texts))


def differences(mine: EvaluationSpec, theirs: EvaluationSpec) -> list[dict[str, str]]:
    """What two versions of a draft choose differently, in words."""
    names: dict[str, Any] = {
        "name": _("Name"),
        "target": LABELS["target"],
        "dataset_version": LABELS["data"],
        "judge": _("Judge model"),
        "criteria": LABELS["criteria"],
        "max_cost": _("Cost limit"),
        "run_name": _("Run name"),
    }
    rows = []
    for name, label in names.items():
        one, other = getattr(mine, name), getattr(theirs, name)
        if one != other:
            rows.append(
                {"label": str(label), "mine": _words(one), "theirs": _words(other)}
            )
    return rows


def _words(value: Any) -> str:
    if isinstance(value, tuple):
        return "; ".join(
            f"{c.name} ({', '.join(f'{k} ← {v}' for k, v in c.mapping.items() if v)})"
            for c in value
        )
    if isinstance(value, TargetSpec):
        text = f"{value.kind} {value.deployment}".strip()
        return f"{text}: {value.user_prompt}" if value.kind == "model" else text
    return "" if value is None else str(value)


def step_context(
    request: PortalRequest,
    step: Step,
    draft: EvaluationDraft,
    spec: EvaluationSpec,
    view: View,
    wrong: list[Problem],
    *,
    posted: bool,
) -> dict[str, Any]:
    post = request.POST if posted else None
    if step == "target":
        return _target_context(request, spec, view, post)
    if step == "data":
        return _data_context(request, draft, spec)
    if step == "criteria":
        found = criteria.context(spec, view, request.GET, post)
        return {**found, "media_warnings": criteria.media_warnings(spec, view)}
    if step == "mapping":
        number, item = sample_row(request, view)
        sample = _last_output(request, spec)
        found = mapping.context(spec, view, wrong, item=item, sample=sample)
        return {
            **found,
            "row_number": number,
            "row_count": view.version.row_count if view.version else 0,
            "item": described(request.project, item),
            "sample": described(request.project, sample),
            "media": _row_media(request.project, item),
        }
    return _review_context(draft, spec, view, post)


def _target_context(
    request: PortalRequest, spec: EvaluationSpec, view: View, post: QueryDict | None
) -> dict[str, Any]:
    target = spec.target or TargetSpec()
    initial = {k: v for k, v in target.model_dump().items() if v is not None}
    form = (
        TargetForm(post, deployments=view.deployments)
        if post
        else TargetForm(initial=initial, deployments=view.deployments)
    )
    kind = post.get("kind", target.kind) if post else target.kind
    rows = preview_view(request.project, view)
    return {
        "form": form,
        "kind": kind,
        "has_target": spec.target is not None,
        "columns": [c["name"] for c in rows.version.columns] if rows.version else [],
        **_preview(request, target, rows),
    }


def preview_view(project: Project, view: View) -> View:
    """The rows that prompts are tried on: the chosen dataset's, else the newest's."""
    if view.version is not None:
        return view
    newest = (
        DatasetVersion.objects.select_related("dataset")
        .filter(dataset__project=project, state=DatasetVersion.State.READY)
        .order_by("-pk")
        .first()
    )
    rows = [r.values for r in newest.rows.order_by("index")[:50]] if newest else []
    return View(view.around, newest, rows, view.deployments)


def sample_row(request: PortalRequest, view: View) -> tuple[int, JSONObject]:
    """The row that `?row=` or the form names, from 1; the first one otherwise."""
    if view.version is None or not view.version.row_count:
        return 0, {}
    text = request.POST.get("row") or request.GET.get("row") or "1"
    wanted = int(text) if text.isdigit() else 1
    number = min(max(wanted, 1), view.version.row_count)
    row = view.version.rows.filter(index=number).first()
    return number, row.values if row else {}


def _preview(request: PortalRequest, target: TargetSpec, rows: View) -> dict[str, Any]:
    number, item = sample_row(request, rows)
    context: dict[str, Any] = {
        "row_number": number,
        "row_count": rows.version.row_count if rows.version else 0,
        "preview_version": rows.version,
    }
    if rows.version is None or target.kind != "model":
        return context
    around = rows.around
    spec = EvaluationSpec(target=target, dataset_version=rows.version.ref)
    wrong = [
        p
        for p in problems(spec, _ready(around, rows))
        if p.field in {"system_prompt", "user_prompt"}
    ]
    context["template_problems"] = [say(p.sentence) for p in wrong]
    try:
        context["messages"] = shown_messages(
            request.project, build_request(target, item)
        )
    except ModelError as error:
        context["template_problems"].append(error.sentence)
    return context


def _ready(around: Surroundings, rows: View) -> Surroundings:
    paths = known_paths(rows.version, rows.rows, generates=False)
    return replace(around, dataset_ready=True, paths=paths, row_count=1)


def try_target(
    request: PortalRequest, spec: EvaluationSpec, view: View, action: str
) -> HttpResponse:
    """Preview of the prompt on a row, or a real call for that row. Saves nothing."""
    form = TargetForm(_with_defaults(request.POST, spec), deployments=view.deployments)
    rows = preview_view(request.project, view)
    if not form.is_valid():
        context = {"form_errors": form.errors, "preview_version": rows.version}
        return render(request, "evaluations/draft/_preview.html", context, status=422)
    target = form.spec()
    context = _preview(request, target, rows)
    deployment = view.deployments.get(target.deployment)
    if action == "try" and deployment and context.get("messages"):
        _number, item = sample_row(request, rows)
        body = {"target": target.model_dump(mode="json"), "item": item}
        call = ask(
            request.project,
            TestCall.Kind.ROW,
            deployment,
            request=body,
            by=request.user,
        )
        context["call"] = call
    elif action == "try" and not deployment:
        context["template_problems"] = [_("Choose a model.")]
    context["draft_ref"] = request.resolver_match.kwargs["ref"]  # type: ignore[union-attr]
    return render(request, "evaluations/draft/_preview.html", context)


def show_try(request: PortalRequest, draft: EvaluationDraft, ref: str) -> HttpResponse:
    calls = TestCall.objects.filter(project=request.project, kind=TestCall.Kind.ROW)
    call = find(calls, "This test call does not exist any more.", ref=ref)
    context = {"call": call, "draft_ref": draft.ref}
    return render(request, "evaluations/draft/_try.html", context)


def _last_output(request: PortalRequest, spec: EvaluationSpec) -> JSONObject:
    """What the last test call of this target gave, to show `sample.…` values."""
    if spec.target is None or spec.target.kind != "model":
        return {}
    call = (
        TestCall.objects.filter(
            project=request.project,
            kind=TestCall.Kind.ROW,
            deployment__ref=spec.target.deployment,
            result__ok=True,
        )
        .order_by("-pk")
        .first()
    )
    return dict(call.result["output"]) if call else {}


def _row_media(project: Project, item: JSONObject) -> list[dict[str, Any]]:
    """Images and clips of a row that stand in columns of their own."""
    shown = described(project, item)
    return [
        {"name": name, "value": value}
        for name, value in shown.items()
        if isinstance(value, dict) and "$blob" in value
    ]


def _data_context(
    request: PortalRequest, draft: EvaluationDraft, spec: EvaluationSpec
) -> dict[str, Any]:
    versions = (
        DatasetVersion.objects.select_related("dataset")
        .filter(dataset__project=request.project, state=DatasetVersion.State.READY)
        .order_by("dataset__name", "-number")
    )
    datasets: dict[int, dict[str, Any]] = {}
    for version in versions:
        entry = datasets.setdefault(
            version.dataset_id,
            {"dataset": version.dataset, "newest": version, "versions": []},
        )
        entry["versions"].append(version)
        if version.ref == spec.dataset_version:
            entry["chosen"] = version
    here = step_url(draft, "data")
    upload = reverse("dataset_upload", args=[request.project.slug])
    return {
        "datasets": list(datasets.values()),
        "upload_url": f"{upload}?next={here}",
        "source": request.GET.get("source", "existing"),
        "next": here,
        "dataset_count": Dataset.objects.filter(project=request.project).count(),
    }


def _review_context(
    draft: EvaluationDraft, spec: EvaluationSpec, view: View, post: QueryDict | None
) -> dict[str, Any]:
    judged = [
        (c, view.deployments.get(spec.judge_of(c)))
        for c in spec.criteria
        if c.evaluator in view.around.catalogue
        and view.around.catalogue[c.evaluator].needs_judge
    ]
    target = spec.target or TargetSpec()
    inputs = [path for c in spec.criteria for path in c.mapping.values()]
    return {
        "target": target,
        "model": view.deployments.get(target.deployment),
        "judges": list(dict.fromkeys(d for _c, d in judged if d is not None)),
        "assigned": sum(1 for path in inputs if path),
        "inputs": len(inputs),
        "name_value": post.get("name", spec.name) if post else spec.name,
        "max_cost_value": _cost_text(spec, post),
        "urls": {step: step_url(draft, step) for step in LABELS},
    }


def _cost_text(spec: EvaluationSpec, post: QueryDict | None) -> str:
    if post and "max_cost" in post:
        return post["max_cost"]
    return f"{spec.max_cost:.2f}" if spec.max_cost is not None else ""
