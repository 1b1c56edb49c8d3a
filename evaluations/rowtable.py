"""The table of rows of a run: its columns, chosen by the reader, and its cells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _

from assay.scoring.outcome import Outcome
from datasets.cells import Cell, shown_rows
from datasets.models import Contents
from evaluations.labels import Counts, labels_of
from evaluations.models import Item, Label, Metric, Result, Run
from evaluations.rowfilter import RowFilter
from evaluations.scores import headings, name_of

HUMAN = "human"
WORDS = {
    Outcome.PASS: "pass",
    Outcome.FAIL: "fail",
    Outcome.NOT_APPLICABLE: "not_applicable",
    Outcome.ERROR: "error",
}


@dataclass(frozen=True, slots=True)
class Column:
    """An optional column: a metric, a column of the dataset, or the time taken."""

    key: str
    label: str
    is_usual: bool = False
    metric: Metric | None = None
    name: str = ""
    short: str = ""
    under: str = ""
    """The heading where the label would be long, and what stands under it."""

    @property
    def heading(self) -> str:
        return self.short or self.label

    @property
    def sort(self) -> str:
        """The sort key, empty when the column does not sort."""
        if self.metric is not None:
            return str(self.metric.pk)
        return "latency" if self.key == "time" else ""

    @property
    def is_human(self) -> bool:
        return self.key == HUMAN


@dataclass(slots=True)
class TableCell:
    """What one optional column shows of a row: a score, a value or a time."""

    column: Column
    result: Result | None = None
    value: Cell | None = None
    labels: list[Label] = field(default_factory=list)

    @property
    def outcome(self) -> str:
        return WORDS[Outcome(self.result.outcome)] if self.result else ""


@dataclass(slots=True)
class TableRow:
    item: Item
    url: str
    cells: list[TableCell] = field(default_factory=list)

    @property
    def outcome(self) -> str:
        return WORDS[Outcome(self.item.outcome)] if self.item.outcome else ""

    @property
    def seconds(self) -> float | None:
        """How long the target took."""
        return None if self.item.latency_ms is None else self.item.latency_ms / 1000

    @property
    def has_image(self) -> bool:
        return bool(self.item.row.contents & Contents.IMAGE)

    @property
    def has_audio(self) -> bool:
        return bool(self.item.row.contents & Contents.AUDIO)


def optional_columns(
    run: Run, metrics: Mapping[int, Metric], *, has_labels: bool = False
) -> dict[str, Column]:
    """All columns that can be added to number, input, response and result.

    Dimensions of rubrics are usually left out; labels are shown when there are any.
    """
    heads = headings(metrics)
    columns = []
    for pk, metric in metrics.items():
        label, (short, under) = name_of(metric), heads[pk]
        column = Column(
            f"m{pk}", label, metric.is_primary, metric, short=short, under=under
        )
        columns.append(column)
    if run.target.get("kind") != "dataset":
        columns.append(Column("time", _("Time")))
    columns.append(Column(HUMAN, _("Human"), is_usual=has_labels))
    columns += [
        Column(f"d{place}", column["name"], name=column["name"])
        for place, column in enumerate(run.dataset_version.columns)
    ]
    return {column.key: column for column in columns}


def offered(columns: Mapping[str, Column]) -> dict[str, bool]:
    return {key: column.is_usual for key, column in columns.items()}


def shown_columns(columns: Mapping[str, Column], wanted: RowFilter) -> list[Column]:
    if wanted.columns is None:
        return [column for column in columns.values() if column.is_usual]
    return [columns[key] for key in wanted.columns]


def needs_data(columns: list[Column]) -> bool:
    return any(column.name for column in columns)


def table_rows(
    run: Run, items: list[Item], columns: list[Column], wanted: RowFilter
) -> list[TableRow]:
    """The rows of the table. 1 query for media in columns of the dataset, 1 for
    labels when they are shown."""
    values = _data_cells(run, items, columns)
    shows_labels = any(column.is_human for column in columns)
    said = labels_of(items) if shows_labels else {}
    query = urlencode(wanted.of_list().as_query())
    rows = []
    for item in items:
        row = TableRow(item, row_url(run, item.index, query))
        for column in columns:
            cell = TableCell(column)
            if column.metric is not None:
                cell.result = scores_of(item).get(column.metric.pk)
            if column.is_human:
                cell.labels = said.get(item.pk, [])
            cell.value = values.get((item.row.index, column.name))
            row.cells.append(cell)
        rows.append(row)
    return rows


def scores_of(item: Item) -> dict[int, Result]:
    """What `queries.attach_scores` gave the item."""
    scores: dict[int, Result] = item.scores  # type: ignore[attr-defined]
    return scores


def _data_cells(
    run: Run, items: list[Item], columns: list[Column]
) -> dict[tuple[int, str], Cell]:
    names = [column.name for column in columns if column.name]
    if not names:
        return {}
    project = run.evaluation.project
    rows = shown_rows(project, [item.row for item in items], names)
    return {(row.index, cell.column): cell for row in rows for cell in row.cells}


def row_url(run: Run, index: int, query: str = "") -> str:
    evaluation = run.evaluation
    args = [evaluation.project.slug, evaluation.slug, run.number, index]
    return reverse("run_row", args=args) + (f"?{query}" if query else "")


@dataclass(frozen=True, slots=True)
class Chip:
    """A quick filter: `wanted` is what it leads to."""

    label: str
    n: int
    wanted: RowFilter
    is_current: bool
    icon: str = ""
    is_all: bool = False


def chips(run: Run, wanted: RowFilter, said: Counts) -> list[Chip]:
    """Quick filters with their counts; the results add up to the rows that are done.

    The filter of a medium or of labels is taken off again by its own chip.
    """
    held = run.dataset_version.import_report.get("rows_with", {})
    results = (
        ("", _("All"), run.done),
        ("pass", _("Passed"), run.passed),
        ("fail", _("Failed"), run.failed),
        ("error", _("Errors"), run.errored),
        ("na", _("Not applicable"), run.skipped),
    )
    media = (("image", _("with image")), ("audio", _("with audio")))
    made = [
        Chip(
            label,
            count,
            replace(wanted, result=value, page=1),
            wanted.result == value,
            is_all=not value,
        )
        for value, label, count in results
    ]
    for value, label in media:
        on = wanted.has == value
        leads = replace(wanted, has="" if on else value, page=1)
        made.append(Chip(label, held.get(value, 0), leads, on, icon=value))
    labels = (
        ("any", _("Labelled"), said.labelled),
        ("disagree", _("Human disagrees"), said.disagreeing),
    )
    for value, label, count in labels:
        on = wanted.label == value
        leads = replace(wanted, label="" if on else value, page=1)
        made.append(Chip(label, count, leads, on))
    return [chip for chip in made if chip.n or chip.is_all or chip.is_current]
