"""Pages that show datasets, versions and rows."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from assay.data.convert import CONVERTIBLE
from datasets import cells, changes, columns, queries, usage
from datasets.forms import DEFAULT_SORT, ListQuery, ReadForm, RowsQuery
from datasets.models import DatasetVersion
from datasets.views.common import rows_context, version_address
from datasets.views.review import review_page
from workspace.htmx import go, is_partial, render_page
from workspace.models import Role
from workspace.scoping import PortalRequest, project_view
from workspace.ways import safe_next, with_query


@project_view()
def datasets(request: PortalRequest) -> HttpResponse:
    form = ListQuery(request.GET)
    query = form.values
    page = queries.dataset_list(request.project, query)
    context = {
        "page": page,
        "query": query,
        "form": form,
        "query_defaults": {"sort": DEFAULT_SORT},
        "is_filtered": any(query[key] for key in ("q", "content", "source")),
        "can_edit": request.role >= Role.EDITOR,
        "waiting": queries.waiting_versions(request.project),
    }
    return render_page(request, "datasets/list.html", context, partial="datasets")


@project_view()
def dataset(request: PortalRequest, slug: str) -> HttpResponse:
    """The address of a dataset leads to the version that stands for it."""
    found = queries.dataset_in(request.project, slug)
    versions = queries.current_versions(request.project)
    return redirect(version_address(versions.get(dataset=found)))


@project_view()
def dataset_version(request: PortalRequest, slug: str, number: int) -> HttpResponse:
    """One version: its import while that lasts, what went wrong, or its rows."""
    version = queries.version_in(request.project, slug, number)
    target = safe_next(request)
    context: dict[str, Any] = {
        "version": version,
        "dataset": version.dataset,
        "next": target,
        "can_edit": request.role >= Role.EDITOR,
    }
    if version.state == DatasetVersion.State.IMPORTING:
        context["job"] = version.job
        return render_page(
            request, "datasets/importing.html", context, partial="progress"
        )
    if is_partial(request) and request.headers.get("HX-Target") == "progress":
        return go(request, request.get_full_path())
    if version.state == DatasetVersion.State.REVIEW:
        return review_page(request, version)
    if version.state == DatasetVersion.State.FAILED:
        context["form"] = ReadForm()
        return render(request, "datasets/failed.html", context)
    if target:
        return redirect(with_query(target, dataset=version.ref))
    return _ready_version(request, version, context)


def _ready_version(
    request: PortalRequest, version: DatasetVersion, context: dict[str, Any]
) -> HttpResponse:
    query = RowsQuery(request.GET).values
    versions = queries.versions_of(version.dataset)
    context |= {
        "query": query,
        "tab": query["tab"],
        "versions": versions,
        "uses": usage.uses_of([version.pk]),
        "actions": usage.actions_for(version) if request.role >= Role.EDITOR else [],
        "counts": version.import_report.get("rows_with", {}),
        "found": queries.findings_of(
            version, examples=queries.EXAMPLES if query["tab"] == "report" else 0
        ),
        "pending": len(changes.changes_of(version, request.user)),
        "query_defaults": {"tab": "rows"},
    }
    if query["tab"] == "rows":
        context |= rows_context(request, version, query)
    if query["tab"] == "columns":
        context |= {"columns": columns.shown(version), "convertible": CONVERTIBLE}
    if query["tab"] == "report":
        context["form"] = ReadForm()
    return render_page(request, "datasets/version.html", context, partial="ds-rows")


@project_view()
def dataset_row(
    request: PortalRequest, slug: str, number: int, index: int
) -> HttpResponse:
    version = queries.version_in(request.project, slug, number)
    row = queries.row_at(version, index)
    names = [column["name"] for column in version.columns]
    context = {
        "version": version,
        "dataset": version.dataset,
        "row": row,
        "findings": queries.findings_in_row(version, index),
        "can_change": request.role >= Role.EDITOR
        and version.state == DatasetVersion.State.READY,
        "cells": cells.whole_row(request.project, row, names),
        "previous": index - 1 if index > 1 else None,
        "following": index + 1 if index < version.row_count else None,
        "page_number": (index - 1) // queries.ROW_PAGE + 1,
    }
    return render(request, "datasets/row.html", context)


@project_view()
def dataset_preview(request: PortalRequest, ref: str) -> HttpResponse:
    """The fragment that the wizard puts beside its data step; as a page, the rows."""
    version = queries.version_by_ref(request.project, ref)
    if not is_partial(request):
        return redirect(version_address(version))
    context = preview_context(version, ListQuery(request.GET).values["page"] or 1)
    return render(request, "datasets/_preview.html", context)


def preview_context(version: DatasetVersion, number: int) -> dict[str, Any]:
    """What `datasets/_preview.html` takes: four rows of a version. 2 queries."""
    page = queries.preview_page(version, number)
    names = [column["name"] for column in version.columns]
    project = version.dataset.project
    return {
        "version": version,
        "dataset": version.dataset,
        "page": page,
        "rows": cells.shown_rows(project, list(page), names),
        "url": reverse("dataset_preview", args=[project.slug, version.ref]),
    }
