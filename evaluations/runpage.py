"""What the tabs of a run show. Each builder says how many queries it makes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

from django.utils.http import urlencode
from django.utils.translation import gettext as _

from assay.scoring.outcome import Outcome
from evaluations import labels, queries, rowtable
from evaluations.dimensions import is_dimension, rubric_cards
from evaluations.models import Metric, Run
from evaluations.models.results import OutcomeChoice
from evaluations.models.run import ChunkState, RunState
from evaluations.rowfilter import PER_PAGE, RESULTS, RowFilter
from evaluations.scores import (
    RunLine,
    ScoreCard,
    card_groups,
    name_of,
    rows_passed,
    score_cards,
)

TABS = ("results", "errors", "config", "log")
MOST_NARROW = 4
"""Columns that fit beside each other; a wider table scrolls sideways."""
FILTER_NAMES = ("result", "metric", "verdict", "code", "min", "max", "bin")


@dataclass
class RunPage:
    """A run with its metrics and their scores: what every tab needs. 2 queries."""

    run: Run
    metrics: dict[int, Metric]
    cards: list[ScoreCard]

    @cached_property
    def said(self) -> labels.Counts:
        """How many rows people labelled. 2 queries, 1 without labels."""
        return labels.counts(self.run)

    @classmethod
    def of(cls, run: Run) -> RunPage:
        metrics = queries.metrics_of(run.evaluation)
        return cls(run, metrics, score_cards(run, metrics))

    @property
    def errors(self) -> int:
        """Scores that could not be made, as the results say now."""
        return sum(
            card.tally.errored for card in self.cards if not is_dimension(card.metric)
        )

    @property
    def has_scores(self) -> bool:
        return any(card.tally.scored for card in self.cards)

    @property
    def first_tab(self) -> str:
        """Progress while the run is open; errors when there is nothing else."""
        if self.run.is_open:
            return "progress"
        return "results" if self.has_scores or not self.errors else "errors"

    def tab_for(self, query: Mapping[str, str]) -> str:
        """The tab asked for; an address with a filter means the results."""
        asked = query.get("tab", "")
        if asked in TABS:
            return asked
        names = {field.name for field in fields(RowFilter)} | {"min", "max", "cols"}
        return "results" if names.intersection(query) else self.first_tab

    def query(self, tab: str, wanted: RowFilter) -> dict[str, str]:
        """The canonical query of this page: sorted, without defaults."""
        query = wanted.as_query()
        if tab != self.first_tab:
            query["tab"] = tab
        return dict(sorted(query.items()))

    def context(self, tab: str, *, can_edit: bool) -> dict[str, Any]:
        """Head and tabs, and what the tab shows. Up to 4 queries more."""
        context = {
            "run": self.run,
            "evaluation": self.run.evaluation,
            "line": RunLine(self.run, [c for c in self.cards if c.metric.is_primary]),
            "judges": self.judges,
            "tab": tab,
            "tabs": self._tabs(tab),
            "error_count": self.errors,
            "can_edit": can_edit,
        }
        builders = {
            "progress": self._progress,
            "results": self._results,
            "errors": self._errors,
            "config": self._config,
            "log": self._log,
        }
        return context | builders[tab]()

    def _tabs(self, tab: str) -> list[dict[str, Any]]:
        labels = {
            "progress": _("Progress"),
            "results": _("Results"),
            "errors": _("Errors"),
            "config": _("Configuration"),
            "log": _("Log"),
        }
        if not self.run.is_open:
            del labels["progress"]
        return [
            {
                "label": label,
                "url": "?" if key == self.first_tab else f"?tab={key}",
                "is_current": key == tab,
                "n": self.errors if key == "errors" else 0,
            }
            for key, label in labels.items()
        ]

    @property
    def judges(self) -> list[str]:
        names = (m.criterion.judge_name for m in self.metrics.values())
        return list(dict.fromkeys(name for name in names if name))

    def _progress(self) -> dict[str, Any]:
        return progress_context(self.run, self.metrics, self.errors)

    def _results(self) -> dict[str, Any]:
        primary = [card for card in self.cards if card.metric.is_primary]
        return {
            "share": rows_passed(self.run),
            "card_groups": [
                (group, columns_of_cards(len(group.cards) + (not group.name)))
                for group in card_groups(primary)
            ],
            "all_cards": [c for c in self.cards if not is_dimension(c.metric)],
            "rubrics": rubric_cards(self.cards),
        }

    def _errors(self) -> dict[str, Any]:
        """1 query."""
        by_code: dict[str, dict[str, Any]] = {}
        for found in queries.error_groups(self.run):
            code = found["error_code"]
            group = by_code.setdefault(
                code, {"code": code, "sample": found["sample"], "n": 0, "parts": []}
            )
            group["n"] += found["n"]
            wanted = RowFilter(metric=found["metric_id"], verdict="error", code=code)
            query = urlencode(self.query("results", wanted))
            name = name_of(self.metrics[found["metric_id"]])
            group["parts"].append({"name": name, "n": found["n"], "query": query})
        return {"groups": sorted(by_code.values(), key=lambda group: -group["n"])}

    def _config(self) -> dict[str, Any]:
        """2 queries."""
        criteria = queries.criteria_of(self.run.evaluation)
        return {
            "criteria": [
                {
                    "criterion": criterion,
                    "mapping": self.run.mappings.get(criterion.name, criterion.mapping),
                }
                for criterion in criteria
            ],
            "target": self.run.target,
        }

    def _log(self) -> dict[str, Any]:
        """2 queries."""
        counts = queries.chunk_counts(self.run)
        taken_over = self.run.chunks.filter(attempts__gt=1).order_by("first")
        return {
            "chunks": {
                "total": sum(counts.values()),
                "done": counts.get(ChunkState.DONE, 0),
                "leased": counts.get(ChunkState.LEASED, 0),
                "pending": counts.get(ChunkState.PENDING, 0),
            },
            "taken_over": [
                {"chunk": chunk, "first": chunk.first + 1, "last": chunk.last + 1}
                for chunk in taken_over[:50]
            ],
        }

    def rows_context(
        self, wanted: RowFilter, columns: Mapping[str, rowtable.Column]
    ) -> dict[str, Any]:
        """The table of rows with its filters. 3 queries, 4 with dataset columns."""
        shown = rowtable.shown_columns(columns, wanted)
        page = queries.row_page(self.run, wanted, with_data=rowtable.needs_data(shown))
        return {
            "run": self.run,
            "evaluation": self.run.evaluation,
            "page": page,
            "rows": rowtable.table_rows(self.run, list(page), shown, wanted),
            "columns": shown,
            "is_wide": sum(2 if c.name else 1 for c in shown) > MOST_NARROW,
            "choices": list(columns.values()),
            "shown_keys": {column.key for column in shown},
            "wanted": wanted,
            "kept": [
                (key, value)
                for key, value in self.query("results", wanted).items()
                if key != "page"
            ],
            "filter_names": FILTER_NAMES,
            "results": [
                (key, OutcomeChoice(value).label) for key, value in RESULTS.items()
            ],
            "chips": [
                (chip, "?" + urlencode(self.query("results", chip.wanted)))
                for chip in rowtable.chips(self.run, wanted, self.said)
            ],
            "metrics": [(pk, name_of(m)) for pk, m in self.metrics.items()],
            "per_page": PER_PAGE,
            "described": self._described(wanted),
            "query_defaults": {"sort": "index", "per": "20", "tab": self.first_tab},
        }

    def _described(self, wanted: RowFilter) -> str:
        """A filter on scores in words, for the line above the table."""
        words = {
            "pass": _("passed"),
            "fail": _("failed"),
            "error": _("has an error"),
            "na": _("not applicable"),
        }
        if not wanted.looks_at_metric:
            return ""
        if wanted.metric is None:
            verdict = words[wanted.verdict or "error"]
            return _("Any score: %(verdict)s") % {"verdict": verdict}
        metric = self.metrics[wanted.metric]
        parts = [words[wanted.verdict]] if wanted.verdict else []
        parts += [wanted.code] if wanted.code else []
        if wanted.bin is not None:
            card = next(card for card in self.cards if card.metric is metric)
            bars = card.bars
            parts += [bars[wanted.bin].name] if wanted.bin < len(bars) else []
        if wanted.low is not None:
            parts.append(_("at least %(score)s") % {"score": f"{wanted.low:g}"})
        if wanted.high is not None:
            parts.append(_("at most %(score)s") % {"score": f"{wanted.high:g}"})
        return f"{name_of(metric)}: {', '.join(parts)}"


def columns_of_cards(count: int) -> int:
    """Three to five cards side by side, whichever leaves the fewest gaps."""
    return min((5, 4, 3), key=lambda columns: -count % columns)


@dataclass(frozen=True, slots=True)
class Stage:
    """How far one part of the work is."""

    name: str
    done: int
    total: int
    errors: int
    by: str

    @property
    def is_done(self) -> bool:
        return self.done >= self.total


def progress_context(
    run: Run,
    metrics: Mapping[int, Metric] | None = None,
    errors: int | None = None,
) -> dict[str, Any]:
    """Progress, stages and the latest rows. 4 queries, 5 with a model as target."""
    metrics = queries.metrics_of(run.evaluation) if metrics is None else metrics
    progress = queries.progress_of(run, errors=errors)
    return {
        "run": run,
        "evaluation": run.evaluation,
        "progress": progress,
        "share": rows_passed(run),
        "line": RunLine(run, []),
        "stages": _stages(run, metrics),
        "latest": _latest(run, metrics),
        "main_metric": next((m for m in metrics.values() if m.is_primary), None),
        "step": progress.percent // 10 * 10,
        "is_canceling": run.state == RunState.CANCELING,
        "is_paused": run.state == RunState.PAUSED,
        "pause_cause": _pause_cause(run),
    }


def _pause_cause(run: Run) -> str:
    """What stopped a paused run: its cost limit, a person, or a model."""
    if run.state != RunState.PAUSED:
        return ""
    if run.max_cost is not None and run.cost >= run.max_cost:
        return "cost"
    by_person = _("%(name)s paused the run.") % {"name": ""}
    return "person" if run.pause_reason.endswith(by_person) else "model"


def _stages(run: Run, metrics: Mapping[int, Metric]) -> list[Stage]:
    stages = []
    if run.target.get("kind") == "model":
        by = run.deployment.label if run.deployment else ""
        answered = min(queries.answered_rows(run), run.total)
        stages.append(Stage(_("Responses"), answered, run.total, 0, by))
    counts = queries.results_by_metric(run)
    seen: set[int] = set()
    for pk, metric in metrics.items():
        criterion = metric.criterion
        if criterion.pk in seen:
            continue
        seen.add(criterion.pk)
        results = counts.get(pk, {})
        by = criterion.judge_name or _("computed")
        errors = results.get(Outcome.ERROR, 0)
        done = sum(results.values())
        stages.append(Stage(criterion.name, done, run.total, errors, by))
    return stages


def _latest(run: Run, metrics: Mapping[int, Metric]) -> list[dict[str, Any]]:
    main = next((m for m in metrics.values() if m.is_primary), None)
    return [
        {
            "item": item,
            "url": rowtable.row_url(run, item.index),
            "outcome": rowtable.WORDS[Outcome(item.outcome)],
            "result": rowtable.scores_of(item).get(main.pk) if main else None,
        }
        for item in queries.latest_rows(run)
        if item.outcome
    ]
