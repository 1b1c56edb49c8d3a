"""The check-up of an upload: what was found in the file, and what becomes of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from datasets import cells, editing, ingest, queries, uploads
from datasets.forms import DELIMITERS, DecisionForm, ReadForm, RowsQuery
from datasets.models import DatasetVersion
from datasets.requests import ReadRequest
from datasets.views.common import rows_context, version_address
from workspace.htmx import is_partial
from workspace.models import Role
from workspace.scoping import PortalRequest, project_view
from workspace.ways import safe_next

PREVIEW_ROWS = 6
CELL_CHARACTERS = 300


def review_page(request: PortalRequest, version: DatasetVersion) -> HttpResponse:
    """The page of a version that waits for a decision."""
    query = RowsQuery(request.GET).values
    context: dict[str, Any] = {
        "version": version,
        "dataset": version.dataset,
        "report": version.import_report,
        "found": queries.findings_of(version, examples=queries.EXAMPLES),
        "form": ReadForm(initial=_as_fields(uploads.request_of(version))),
        "next": safe_next(request),
        "can_edit": request.role >= Role.EDITOR,
        "is_only_version": version.number == 1,
        "query": query,
        **rows_context(request, version, query),
    }
    name = "datasets/review.html"
    if is_partial(request) and request.headers.get("HX-Target") == "ds-rows":
        name += "#ds-rows"
    return render(request, name, context)


def _as_fields(request: ReadRequest) -> dict[str, Any]:
    fields = request.as_json()
    names = {sign: name for name, sign in DELIMITERS.items()}
    fields["delimiter"] = names.get(request.delimiter, "")
    return fields


@project_view(role=Role.EDITOR)
def dataset_reread(request: PortalRequest, slug: str, number: int) -> HttpResponse:
    """The first rows of the file as they would be read with the choices in the query.

    A fragment for the check-up; as a page it leads back to it.
    """
    version = queries.version_in(request.project, slug, number)
    if not is_partial(request) or version.original is None:
        return redirect(version_address(version))
    form = ReadForm(request.GET)
    context: dict[str, Any] = {"version": version, "dataset": version.dataset}
    if form.is_valid():
        first = ingest.first_rows(version, form.request, PREVIEW_ROWS)
        context["is_otherwise"] = _reads_otherwise(version, form.request)
        names = list(dict.fromkeys(name for row in first.rows for name in row.values))
        context |= {
            "detected": first.detected.as_json(),
            "problems": [problem.as_json() for problem in first.problems],
            "names": names[: cells.TABLE_COLUMNS * 2],
            "more": max(0, len(names) - cells.TABLE_COLUMNS * 2),
            "rows": [
                cells.raw_row(row.number, row.values, names) for row in first.rows
            ],
        }
    return render(request, "datasets/_reread.html", context)


def _reads_otherwise(version: DatasetVersion, wanted: ReadRequest) -> bool:
    """Whether the choices differ from how the rows that wait were read."""
    before = uploads.request_of(version)
    return replace(wanted, skip_bad=before.skip_bad, drop=before.drop) != before


@require_POST
@project_view(role=Role.EDITOR)
def dataset_decide(request: PortalRequest, slug: str, number: int) -> HttpResponse:
    """Keep all rows, or leave out those with a finding of the kinds marked so."""
    version = queries.version_in(request.project, slug, number)
    found = queries.findings_of(version)
    form = DecisionForm(
        request.POST, slugs=[kind.info.slug for kind in found if kind.info.can_drop]
    )
    if not form.is_valid():
        messages.error(request, _("Choose for each finding: keep or leave out."))
        return redirect(version_address(version))
    kinds = [queries.KIND_OF[slug] for slug in form.dropped]
    done = uploads.keep_without(version, kinds) if kinds else uploads.keep(version)
    if not done:
        messages.info(request, _("Somebody has decided about this file already."))
    elif not kinds:
        messages.success(request, _("Dataset saved."))
    target = safe_next(request)
    suffix = "?" + urlencode({"next": target}) if target else ""
    return redirect(version_address(version) + suffix)


@require_POST
@project_view(role=Role.EDITOR)
def dataset_discard(request: PortalRequest, slug: str, number: int) -> HttpResponse:
    """Cancel an upload that waits for a decision: its version goes."""
    version = queries.version_in(request.project, slug, number)
    if not uploads.give_up(version):
        messages.error(request, _("This version is saved. Delete it instead."))
        return redirect(version_address(version))
    editing.delete_version(version)
    what = {"name": version.original_name}
    messages.info(request, _("The upload of %(name)s was canceled.") % what)
    return redirect(
        safe_next(request) or reverse("datasets", args=[request.project.slug])
    )
