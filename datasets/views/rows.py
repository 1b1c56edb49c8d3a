"""Pages that change rows: a form per row, the list of changes, parts, kinds."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from assay.data.convert import CONVERTIBLE
from assay.data.rowtext import row_text
from datasets import cells, changes, compare, queries
from datasets.forms import PartForm, RowsQuery, part_names
from datasets.models import DatasetVersion
from datasets.rowform import RowForm
from datasets.views.common import version_address
from workspace.models import Role
from workspace.scoping import PortalRequest, project_view

COMPARED = 50


def _ready(request: PortalRequest, slug: str, number: int) -> DatasetVersion:
    version = queries.version_in(request.project, slug, number)
    if version.state != DatasetVersion.State.READY:
        raise Http404(_("This version is not saved yet."))
    return version


def _row_address(version: DatasetVersion, index: int) -> str:
    dataset = version.dataset
    args = [dataset.project.slug, dataset.slug, version.number, index]
    return reverse("dataset_row", args=args)


def _changes_address(version: DatasetVersion) -> str:
    dataset = version.dataset
    args = [dataset.project.slug, dataset.slug, version.number]
    return reverse("dataset_changes", args=args)


@project_view(role=Role.EDITOR)
def dataset_row_edit(
    request: PortalRequest, slug: str, number: int, index: int | None = None
) -> HttpResponse:
    """Change the cells of a row, or without index write a new one."""
    version = _ready(request, slug, number)
    values = {} if index is None else queries.row_at(version, index).values
    index = index or 0
    mine = {c.index: c for c in changes.changes_of(version, request.user) if c.index}
    if index in mine and mine[index].data:
        values = changes.values_of(mine[index])
    form = RowForm(request.project, version.columns, values)
    if request.method == "POST" and form.read(request.POST, request.FILES):
        if index and row_text(form.values) == row_text(values):
            messages.info(request, _("Nothing was changed."))
            return redirect(_row_address(version, index))
        return _changed(request, version, index, form)
    context = {
        "version": version,
        "dataset": version.dataset,
        "index": index,
        "form": form,
        "media": cells.media_of(request.project, values),
    }
    status = 422 if form.has_errors else 200
    return render(request, "datasets/row_edit.html", context, status=status)


def _changed(
    request: PortalRequest, version: DatasetVersion, index: int, form: RowForm
) -> HttpResponse:
    try:
        changes.change_row(version, request.user, index, form.values)
    except changes.TooManyChangesError:
        messages.error(request, _too_many())
        return redirect(_changes_address(version))
    messages.success(request, _("Change kept. Save it as a new version when ready."))
    if "again" in request.POST and not index:
        return redirect(request.get_full_path())
    return redirect(_changes_address(version))


def _too_many() -> str:
    limit = f"{changes.MAX_CHANGES:,}"
    text = _("There are %(limit)s changes. Save them as a version before you go on.")
    return text % {"limit": limit}


@require_POST
@project_view(role=Role.EDITOR)
def dataset_row_remove(
    request: PortalRequest, slug: str, number: int, index: int
) -> HttpResponse:
    """Keep that this row goes. It is still there until the changes are saved."""
    version = _ready(request, slug, number)
    queries.row_at(version, index)
    try:
        changes.take_out(version, request.user, index)
    except changes.TooManyChangesError:
        messages.error(request, _too_many())
    else:
        text = _("Row %(index)s goes with the next version.")
        messages.success(request, text % {"index": f"{index:,}"})
    return redirect(_changes_address(version))


@project_view(role=Role.EDITOR)
def dataset_changes(request: PortalRequest, slug: str, number: int) -> HttpResponse:
    """What I changed in this version: on POST saved as the next one, or undone."""
    version = _ready(request, slug, number)
    if request.method == "POST":
        return _save_or_undo(request, version)
    mine = changes.changes_of(version, request.user)
    newest = queries.versions_of(version.dataset)[0]
    context = {
        "version": version,
        "dataset": version.dataset,
        "changes": cells.shown_changes(version, mine),
        "newest": newest,
        "next_number": newest.number + 1,
    }
    return render(request, "datasets/changes.html", context)


def _save_or_undo(request: PortalRequest, version: DatasetVersion) -> HttpResponse:
    undone = request.POST.get("undo", "")
    if undone:
        pk = int(undone) if undone.isdecimal() and len(undone) < 19 else None
        if pk is None and undone != "all":
            raise Http404(_("This change does not exist or was undone."))
        count = changes.undo(version, request.user, pk)
        text = ngettext("%(n)s change undone.", "%(n)s changes undone.", count)
        messages.info(request, text % {"n": count})
        return redirect(_changes_address(version))
    new = changes.save(version, request.user)
    if new is None:
        messages.info(request, _("There is nothing to save."))
        return redirect(version_address(version))
    return redirect(version_address(new))


@require_POST
@project_view(role=Role.EDITOR)
def dataset_convert(request: PortalRequest, slug: str, number: int) -> HttpResponse:
    """Read columns as other kinds: the next version."""
    version = _ready(request, slug, number)
    kinds: dict[str, str] = {}
    for at, column in enumerate(version.columns):
        kind = request.POST.get(f"kind-{at}", "")
        if kind in CONVERTIBLE and kind != column["kind"]:
            kinds[column["name"]] = kind
    if not kinds:
        messages.info(request, _("No column has another type."))
        return redirect(version_address(version) + "?tab=columns")
    return redirect(version_address(changes.convert(version, request.user, kinds)))


@project_view(role=Role.EDITOR)
def dataset_part(request: PortalRequest, slug: str, number: int) -> HttpResponse:
    """A sample, a split, or the filtered rows as a dataset of their own."""
    version = _ready(request, slug, number)
    query = RowsQuery(request.GET).values
    is_filtered = bool(query["q"] or query["has"] or query["finding"])
    found = queries.rows_found(version, query)
    count = found.count() if is_filtered else version.row_count
    form = PartForm(
        request.POST or None,
        project=request.project,
        row_count=count,
        initial={
            "name": f"{version.dataset.name} sample"[:110],
            "how": "found" if is_filtered else "sample",
            "size": max(1, count // 10),
        },
    )
    if request.method == "POST" and form.is_valid():
        rows = list(found.values_list("index", flat=True))
        return _parted(request, version, form.cleaned_data, rows)
    context = {
        "version": version,
        "dataset": version.dataset,
        "form": form,
        "count": count,
        "is_filtered": is_filtered,
    }
    status = 422 if form.errors else 200
    return render(request, "datasets/part.html", context, status=status)


def _parted(
    request: PortalRequest,
    version: DatasetVersion,
    fields: dict[str, Any],
    rows: list[int],
) -> HttpResponse:
    first, rest = rows, list[int]()
    if fields["how"] != "found":
        first, rest = changes.sampled(rows, fields["size"], fields["seed"] or 0)
    names = part_names(fields["name"], fields["how"])
    parts = zip(names, (first, rest), strict=False)
    made = [changes.part(version, request.user, *part) for part in parts]
    return redirect(version_address(made[0]))


@project_view()
def dataset_compare(
    request: PortalRequest, slug: str, number: int, other: int
) -> HttpResponse:
    """What changed from version `other` to version `number`."""
    new = queries.version_in(request.project, slug, number)
    old = queries.version_in(request.project, slug, other)
    found = compare.compare(old, new)
    context = {
        "version": new,
        "dataset": new.dataset,
        "old": old,
        "found": found,
        "rows": cells.compared_rows(old, new, found.places[:COMPARED]),
        "more": max(0, len(found.places) - COMPARED),
    }
    return render(request, "datasets/compare.html", context)
