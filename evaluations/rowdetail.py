"""One row of a run with everything that is known about it, ready to be drawn.

Text in it comes from data, models and judges: it is shown, never interpreted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _

from assay.data.jsonx import JSON, JSONObject, loads
from assay.data.media import BLOB_KEY
from assay.scoring.outcome import Outcome
from datasets.cells import Cell, whole_row
from evaluations.dimensions import is_dimension
from evaluations.evidence import Evidence, cut, evidence_of, media_in
from evaluations.models import Item, Label, Result, Run
from evaluations.queries import item_results, output_of, properties_of
from evaluations.rowconversation import (
    SPOKEN,
    add_transcript,
    conversation_of,
    drawn_media,
    mapped,
)
from evaluations.rowtable import WORDS
from evaluations.scores import name_of
from workspace.formats import money

SHOWN_ELSEWHERE = frozenset(
    {
        "raw_answers",
        "faults",
        "attempts",
        "dimension_scores",
        "raw_mean",
        "normalization",
        "failed_by_one",
    }
)
IN_WORDS = frozenset(
    {
        "inputs",
        "model",
        "finish_reason",
        "prompt_tokens",
        "completion_tokens",
        "total_tokens",
        "cost",
        "simulated",
    }
)


@dataclass(frozen=True, slots=True)
class ShownDimension:
    """What the judge said about a dimension. `metric` is its metric's id; `mine` the
    score that the reader gave it, "" without one."""

    id: str
    score: int | None
    applicable: bool
    weight: int | None
    reason: str
    metric: int
    mine: str = ""


@dataclass(slots=True)
class ShownResult:
    """One score with all that explains it."""

    result: Result
    name: str
    outcome: str
    judge: str
    evidence: Evidence | None = None
    attempts: int = 0
    raw_answers: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    facts: list[tuple[str, str]] = field(default_factory=list)
    properties: JSONObject = field(default_factory=dict)
    dimensions: list[ShownDimension] = field(default_factory=list)
    before: list[JSONObject] = field(default_factory=list)

    @property
    def is_scored(self) -> bool:
        return self.result.score is not None

    @property
    def is_checklist(self) -> bool:
        rubric = self.result.metric.criterion.evaluator.rubric
        return rubric is not None and rubric.scoring == "boolean"

    @property
    def arithmetic(self) -> dict[str, Any]:
        """How a rubric's score was made, for `rubrics/_arithmetic.html`."""
        found = properties_of(self.result)
        return {
            "dimension_scores": found.get("dimension_scores"),
            "score": self.result.score,
            "threshold": self.result.metric.threshold,
            "normalization": found.get("normalization"),
            "raw_mean": found.get("raw_mean"),
            "failed_by_one": found.get("failed_by_one"),
        }

    @property
    def tries(self) -> list[tuple[str, str]]:
        """Answers that could not be used, each with what was wrong with it.

        The answer that was used at last has no fault and is not among them.
        """
        return list(zip(self.raw_answers, self.faults, strict=False))

    @property
    def reason(self) -> str:
        """The reason, or that there is none."""
        if self.result.reason:
            return cut(self.result.reason)
        if self.outcome == "not_applicable":
            return _("The criterion does not apply to this row.")
        return _("The judge gave no reason.") if self.judge else ""


@dataclass(slots=True)
class RowDetail:
    """A row for the page: the conversation, its other columns, and its scores.

    `media` are those of the row that do not stand in the conversation.
    `main` is the score that stands for the row, `others` are the rest in order.
    """

    item: Item
    outcome: str
    conversation: list[JSONObject]
    expected: Cell | None
    media: list[Cell]
    columns: list[Cell]
    raw_item: JSONObject
    raw_sample: JSONObject
    main: ShownResult | None
    others: list[ShownResult]
    target: Evidence | None

    @property
    def seconds(self) -> float | None:
        """How long the target took."""
        return None if self.item.latency_ms is None else self.item.latency_ms / 1000


def row_detail(run: Run, item: Item, mine: Label | None = None) -> RowDetail:
    """Everything about one row; `mine` is the reader's label of it.

    3 queries: results, media of the row, of the calls.
    """
    project = run.evaluation.project
    results = item_results(item)
    calls = [item.completion, *(result.completion for result in results)]
    media = media_in(project, [call for call in calls if call is not None])
    names = [column["name"] for column in run.dataset_version.columns]
    cells = {cell.column: cell for cell in whole_row(project, item.row, names)}
    sample = output_of(item)
    target = evidence_of(item.completion, media) if item.completion else None
    conversation, used = conversation_of(run, cells, sample, target)
    expected = mapped(run, cells, "ground_truth")
    if add_transcript(cells, conversation):
        used = used | {SPOKEN}
    drawn = {medium.get(BLOB_KEY) for medium in drawn_media(conversation)}
    rest = [
        cell
        for cell in cells.values()
        if cell.column not in used and cell is not expected
    ]
    history = _history(item)
    told = [result for result in results if not is_dimension(result.metric)]
    metrics = {
        (r.metric.criterion_id, r.metric.name): r.metric_id
        for r in results
        if is_dimension(r.metric)
    }
    shown = [_shown(run, result, media, history) for result in told]
    for one in shown:
        one.dimensions = _dimensions(one.result, metrics, mine)
    main = main_result(item, shown)
    return RowDetail(
        item=item,
        outcome=WORDS[Outcome(item.outcome)] if item.outcome else "",
        conversation=conversation,
        expected=expected,
        media=[
            cell
            for cell in rest
            if cell.kind == "media" and cell.value.get(BLOB_KEY) not in drawn
        ],
        columns=[cell for cell in rest if cell.kind != "media"],
        raw_item=item.row.values,
        raw_sample=sample,
        main=main,
        others=[one for one in shown if one is not main],
        target=target,
    )


def _dimensions(
    result: Result, metrics: Mapping[tuple[int, str], int], mine: Label | None
) -> list[ShownDimension]:
    """The dimensions of a rubric's score, in their order."""
    listed = properties_of(result).get("dimension_scores")
    found = []
    for entry in listed if isinstance(listed, list) else []:
        if not isinstance(entry, dict):
            continue
        name, score, weight = entry.get("id"), entry.get("score"), entry.get("weight")
        metric = metrics.get((result.metric.criterion_id, str(name)), 0)
        given = mine.dimensions.get(str(metric), "") if mine else ""
        found.append(
            ShownDimension(
                id=str(name),
                score=score if isinstance(score, int) else None,
                applicable=bool(entry.get("applicable")),
                weight=weight if isinstance(weight, int) else None,
                reason=cut(str(entry.get("reason") or "")),
                metric=metric,
                mine=str(given),
            )
        )
    return found


def main_result(item: Item, shown: list[ShownResult]) -> ShownResult | None:
    """The first primary score that decided the row, else the first one."""
    primary = [one for one in shown if one.result.metric.is_primary] or shown
    deciding = [one for one in primary if one.result.outcome == item.outcome]
    return next(iter(deciding or primary), None)


def _shown(
    run: Run,
    result: Result,
    media: Mapping[str, JSONObject],
    history: list[JSONObject],
) -> ShownResult:
    criterion = result.metric.criterion
    properties = properties_of(result)
    attempts = properties.get("attempts")
    call = result.completion
    return ShownResult(
        result=result,
        name=name_of(result.metric),
        outcome=WORDS[Outcome(result.outcome)],
        judge=criterion.judge_name if criterion.evaluator.needs_judge else "",
        evidence=evidence_of(call, media) if call else None,
        attempts=attempts if isinstance(attempts, int) else 0,
        raw_answers=_texts(properties.get("raw_answers")),
        faults=_texts(properties.get("faults")),
        facts=_facts(properties),
        properties={
            k: v
            for k, v in properties.items()
            if k not in SHOWN_ELSEWHERE and k not in IN_WORDS
        },
        before=[entry for entry in history if entry.get("metric") == result.metric.key],
    )


def _facts(properties: JSONObject) -> list[tuple[str, str]]:
    """What is known about the judge's calls, in words."""
    words = {
        "inputs": _("Inputs"),
        "model": _("Model that answered"),
        "finish_reason": _("Answer ended"),
        "prompt_tokens": _("Tokens sent"),
        "completion_tokens": _("Tokens answered"),
        "total_tokens": _("Tokens in all"),
        "cost": _("Cost"),
        "simulated": _("Simulated"),
    }
    known = ((label, properties.get(key), key) for key, label in words.items())
    return [
        (label, _fact(key, value)) for label, value, key in known if value is not None
    ]


def _fact(key: str, value: JSON) -> str:
    ends = {
        "stop": _("by itself"),
        "length": _("cut off at the limit of tokens"),
        "content_filter": _("stopped by a content filter"),
    }
    if isinstance(value, bool):
        return _("Yes") if value else _("No")
    if key == "cost" and isinstance(value, int | float):
        return money(value)
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, list | tuple):
        return ", ".join(str(one) for one in value)
    text = str(value)
    return ends.get(text, text) if key == "finish_reason" else text


def _texts(value: JSON) -> list[str]:
    if not isinstance(value, (list, tuple)):
        return []
    return [cut(str(text)) if text is not None else "" for text in value]


def _history(item: Item) -> list[JSONObject]:
    """Errors of earlier attempts that were made again."""
    value = loads(item.history) if item.history else []
    if not isinstance(value, list):
        return []
    return [entry for entry in value if isinstance(entry, dict)]
