"""Reads for the pages of datasets."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import F, OuterRef, Q, QuerySet, Subquery
from django.db.models.expressions import OrderBy
from django.db.models.functions import Coalesce, Lower
from django.utils.functional import cached_property
from django.utils.translation import gettext as _

from assay.data.checkup import KINDS, KindInfo
from assay.data.exact import dumps
from datasets.models import Dataset, DatasetVersion, Row, RowFinding
from datasets.report import CONTENTS
from workspace.models import Project
from workspace.scoping import find
from workspace.sentences import say

LIST_PAGE = 25
ROW_PAGE = 50
PREVIEW_PAGE = 4
EXAMPLES = 3
ORDER: dict[str, Any] = {
    "name": Lower("dataset__name"),
    "rows": F("row_count"),
    "size": F("original__size"),
    "updated": F("created_at"),
}


class CountedPaginator(Paginator):
    """Pages of a list whose length is known without counting."""

    def __init__(self, rows: Any, per_page: int, count: int) -> None:
        super().__init__(rows, per_page)
        self._count = count

    @cached_property
    def count(self) -> int:
        return self._count


class IndexPaginator(CountedPaginator):
    """Pages of all rows of a version, cut by their index instead of an offset."""

    def __init__(self, version: DatasetVersion, per_page: int) -> None:
        self.rows = Row.objects.filter(version=version).order_by("index")
        super().__init__(self.rows, per_page, version.row_count)

    def page(self, number: int | str) -> Page[Any]:
        number = self.validate_number(number)
        first = (number - 1) * self.per_page
        rows = self.rows.filter(index__gt=first, index__lte=first + self.per_page)
        return Page(rows, number, self)


def datasets_of(project: Project) -> QuerySet[Dataset]:
    return Dataset.objects.filter(project=project)


def dataset_in(project: Project, slug: str) -> Dataset:
    """1 query."""
    return find(
        datasets_of(project),
        _("This dataset does not exist or was deleted."),
        slug=slug,
    )


def versions_in(project: Project) -> QuerySet[DatasetVersion]:
    return DatasetVersion.objects.filter(dataset__project=project).select_related(
        "dataset__project", "original", "created_by", "base__dataset"
    )


def version_in(project: Project, slug: str, number: int) -> DatasetVersion:
    """1 query."""
    message = _("This version does not exist or was deleted.")
    return find(versions_in(project), message, dataset__slug=slug, number=number)


def version_by_ref(project: Project, ref: str) -> DatasetVersion:
    """1 query."""
    message = _("This version does not exist or was deleted.")
    return find(versions_in(project), message, ref=ref)


def _current_id(dataset: str) -> Coalesce:
    """The version that stands for a dataset: the newest usable one, else the newest."""
    versions = DatasetVersion.objects.filter(dataset=OuterRef(dataset))
    newest = versions.order_by("-number").values("pk")
    usable = newest.filter(state=DatasetVersion.State.READY)
    return Coalesce(Subquery(usable[:1]), Subquery(newest[:1]))


def current_versions(project: Project) -> QuerySet[DatasetVersion]:
    """One version for each dataset. 1 query."""
    return (
        versions_in(project)
        .annotate(current_id=_current_id("dataset"))
        .filter(pk=F("current_id"))
    )


def dataset_list(project: Project, query: dict[str, Any]) -> Page[DatasetVersion]:
    """The current versions that the list shows. 2 queries: their number, a page."""
    versions = current_versions(project)
    if query["q"]:
        versions = versions.filter(
            Q(dataset__name__icontains=query["q"])
            | Q(dataset__description__icontains=query["q"])
            | Q(column_names__icontains=query["q"])
        )
    if query["content"]:
        versions = versions.filter(content__contains=f" {query['content']} ")
    if query["source"]:
        versions = versions.filter(source=query["source"])
    key = query["sort"].lstrip("-")
    falling = query["sort"].startswith("-")
    order = OrderBy(
        ORDER[key],
        descending=falling,
        nulls_last=falling or None,
        nulls_first=not falling or None,
    )
    versions = versions.order_by(order, "-pk")
    return Paginator(versions, LIST_PAGE).get_page(query["page"] or 1)


def waiting_versions(project: Project) -> list[DatasetVersion]:
    """Uploads that wait for a decision, newest first. 1 query."""
    waiting = versions_in(project).filter(state=DatasetVersion.State.REVIEW)
    return list(waiting.order_by("-pk")[:LIST_PAGE])


def versions_of(dataset: Dataset) -> list[DatasetVersion]:
    """All versions, newest first. 1 query."""
    found = dataset.versions.select_related("original", "created_by")
    versions = list(found.order_by("-number"))
    for version, before in pairwise(versions):
        version.previous = before.number
    return versions


def rows_found(version: DatasetVersion, query: dict[str, Any]) -> QuerySet[Row]:
    """The rows that match `has`, `finding` and `q`, in their order."""
    rows = Row.objects.filter(version=version).order_by("index")
    if query["has"]:
        rows = rows.annotate(found=F("contents").bitand(CONTENTS[query["has"]]))
        rows = rows.filter(found__gt=0)
    if query["finding"]:
        found = version.findings.filter(kind=KIND_OF[query["finding"]])
        rows = rows.filter(index__in=found.values("index"))
    if query["q"]:
        rows = rows.filter(written_in("data", query["q"]))
    return rows


def written_in(field: str, words: str) -> Q:
    """Rows whose JSON text in `field` holds `words`: as letters, as rows are stored,
    or as escapes, as they were stored before."""
    found = Q(**{f"{field}__icontains": dumps(words)[1:-1]})
    if words.isascii():
        return found
    return found | Q(**{f"{field}__icontains": json.dumps(words)[1:-1]})


def row_page(version: DatasetVersion, query: dict[str, Any]) -> Page[Row]:
    """A page of rows. 1 query; 2 when they are searched, which is counted."""
    number = query["page"] or 1
    if query["q"] or query["finding"]:
        return Paginator(rows_found(version, query), ROW_PAGE).get_page(number)
    if query["has"]:
        count = version.import_report.get("rows_with", {}).get(query["has"], 0)
        rows = rows_found(version, query)
        return CountedPaginator(rows, ROW_PAGE, count).get_page(number)
    return IndexPaginator(version, ROW_PAGE).get_page(number)


KIND_OF = {info.slug: int(kind) for kind, info in KINDS.items()}


@dataclass(frozen=True, slots=True)
class Found:
    """One kind of finding in a version: in how many rows, and the first of them."""

    info: KindInfo
    rows: int
    examples: list[RowFinding]

    @property
    def label(self) -> str:
        return say(self.info.label)

    @property
    def why(self) -> str:
        return say(self.info.why)


def findings_of(version: DatasetVersion, *, examples: int = 0) -> list[Found]:
    """What the check-up found, by kind. No query; 1 per kind with `examples`."""
    counts = version.import_report.get("findings", {})
    return [
        Found(
            info,
            counts[info.slug],
            list(version.findings.filter(kind=kind).order_by("index")[:examples])
            if examples
            else [],
        )
        for kind, info in KINDS.items()
        if counts.get(info.slug)
    ]


def findings_in_row(version: DatasetVersion, index: int) -> list[RowFinding]:
    """1 query."""
    return list(version.findings.filter(index=index).order_by("kind", "pk"))


def row_steps(version_id: int, step: int) -> Iterator[list[Row]]:
    """All rows of a version in order, `step` in memory at a time. 1 query a step."""
    last = 0
    rows = Row.objects.filter(version=version_id).order_by("index")
    while batch := list(rows.filter(index__gt=last)[:step]):
        last = batch[-1].index
        yield batch


def preview_page(version: DatasetVersion, number: int) -> Page[Row]:
    """Four rows. 1 query."""
    return IndexPaginator(version, PREVIEW_PAGE).get_page(number)


def row_at(version: DatasetVersion, index: int) -> Row:
    """1 query."""
    rows = Row.objects.filter(version=version)
    return find(rows, _("This row does not exist."), index=index)
