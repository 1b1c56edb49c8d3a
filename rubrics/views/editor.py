"""What the editor's page and its fragments show."""

from __future__ import annotations

import json
import secrets
from typing import Any

from django.http import HttpResponse

from assay.scoring.rubric.judge import system_prompt
from assay.scoring.rubric.spec import RubricProblem
from evaluators.models import EvaluatorVersion
from evaluators.usage import uses_of
from rubrics import differences, naming, queries, trycard
from rubrics.documents import Document
from rubrics.effects import effect_on
from rubrics.jsontext import DEFINITION, LIST, text_of
from rubrics.models import RubricDraft
from rubrics.sheet import Sheet, sheet_of
from workspace.htmx import is_partial, render_page
from workspace.scoping import PortalRequest

TABS = ("dimensions", "json", "prompt", "versions", "usage")
TYPED_TEXTS = {"id", "description", "weight", "allowed"}


def show(
    request: PortalRequest,
    draft: RubricDraft,
    document: Document,
    *,
    is_strict: bool = False,
    **more: Any,
) -> HttpResponse:
    """The editor. `is_strict` names everything that stands against saving a version;
    without it empty fields are left in peace. `more` are messages to show."""
    context = {**_context(request, draft, document, is_strict=is_strict), **more}
    if "conflict" in more:
        # The form goes on from what it knew: only who says so saves over the other's.
        context["revision"] = request.POST.get("revision", "")
    template = "rubrics/draft.html"
    is_fragment = is_partial(request)
    if is_fragment:
        beside = request.POST.get("do") == "auto" and _has_shape(request, document)
        template = "rubrics/_saved.html" if beside else "rubrics/_editor.html"
    status = 200
    if is_strict or more:
        status = 409 if "conflict" in more and not is_fragment else 422
    return render_page(request, template, context, status=status)


def _context(
    request: PortalRequest,
    draft: RubricDraft,
    document: Document,
    *,
    is_strict: bool,
) -> dict[str, Any]:
    tab = request.GET.get("tab", "")
    tab = tab if tab in TABS else TABS[0]
    spec, found = naming.document_problems(draft, document)
    listed = found if is_strict else typed_only(document, found)
    sheet = sheet_of(document, spec, listed)
    return {
        "draft": draft,
        "document": document,
        "sheet": sheet,
        "tab": tab,
        "revision": str(draft.revision),
        "page": request.POST.get("page", "")[:32] or secrets.token_hex(8),
        "focus": _focus(request, sheet),
        "lists_problems": is_strict or request.method == "GET",
        "number": next_number(draft),
        "taken": taken(draft, document, listed),
        **_tab_context(request, draft, sheet, tab),
    }


def _focus(request: PortalRequest, sheet: Sheet) -> str:
    """The id of the control that has the focus after a button changed the sheet."""
    action, _colon, key = request.POST.get("do", "").partition(":")
    if action in ("add", "residual") and sheet.lines:
        return f"id-{sheet.lines[-1].typed.key}"
    if action == "remove":
        return "undo"
    line = next((line for line in sheet.lines if line.typed.key == key), None)
    if line is None:
        return ""
    if action == "up":
        return f"down-{key}" if line.is_first else f"up-{key}"
    return f"up-{key}" if line.is_last else f"down-{key}"


def show_saved(
    request: PortalRequest, draft: RubricDraft, document: Document
) -> HttpResponse:
    """After a save that nobody waits for: only what stands beside the fields, so that
    typing goes on undisturbed. Another shape of the sheet needs other fields."""
    answer = show(request, draft, document)
    answer["HX-Trigger"] = json.dumps({"ui:saved": {}})
    if not _has_shape(request, document):
        answer["HX-Retarget"] = "#editor"
        answer["HX-Reswap"] = "outerHTML"
    return answer


def _has_shape(request: PortalRequest, document: Document) -> bool:
    """Whether the page has the fields that the document needs."""
    return document.shape == request.POST.get("shape")


def typed_only(document: Document, found: list[RubricProblem]) -> list[RubricProblem]:
    """Problems of what was typed; what is still empty can wait."""
    kept = []
    for problem in found:
        if problem.position is None:
            if problem.field == "dimensions" and not document.dimensions:
                continue
            if problem.field == "name" and not document.name:
                continue
        elif problem.field in TYPED_TEXTS:
            value = getattr(document.dimensions[problem.position], problem.field)
            if not value.strip():
                continue
        kept.append(problem)
    return kept


def taken(draft: RubricDraft, document: Document, found: list[RubricProblem]) -> Any:
    """The evaluator that has the name already, to link to."""
    if not any(problem.field == "name" for problem in found):
        return None
    return naming.taken_by(draft.project, document.name, other_than=draft.evaluator)


def next_number(draft: RubricDraft) -> int:
    """The number that the draft becomes. 1 query for a known rubric."""
    if draft.evaluator is None:
        return 1
    newest = draft.evaluator.versions.order_by("-number").first()
    return newest.number + 1 if newest else 1


def _tab_context(
    request: PortalRequest, draft: RubricDraft, sheet: Sheet, tab: str
) -> dict[str, Any]:
    versions = queries.versions_of(draft.evaluator) if draft.evaluator else []
    context: dict[str, Any] = {"versions": versions, "uses": uses_of(versions)}
    if tab == "json":
        form = request.GET.get("form", LIST)
        form = form if form in (LIST, DEFINITION) else LIST
        return {
            **context,
            "json_form": form,
            "json_text": text_of(sheet.document, form),
        }
    if tab == "prompt" and sheet.spec:
        return {**context, "prompt": system_prompt(sheet.spec, sheet.spec.dimensions)}
    if tab == "versions" and sheet.spec and draft.base:
        base = queries.spec_of(draft.base)
        return {**context, "difference": differences.between(base, sheet.spec)}
    if tab == "dimensions":
        context["effect"] = effect_on(draft, sheet.document)
        context |= trycard.context(draft, request.POST)
    return context


def version_of(versions: list[EvaluatorVersion], number: str) -> EvaluatorVersion:
    """The version with this number, else the newest."""
    return next((v for v in versions if str(v.number) == number), versions[0])
