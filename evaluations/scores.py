"""The figures of a run: pass rates, means and distributions, with what they stand on.

A score that failed to be made, was skipped or does not apply is never counted as a
zero or a fail: it is shown beside, so that the counts always add up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.translation import gettext as _

from assay.scoring.stats import wilson
from assay.scoring.summary import MetricTally
from evaluations import summaries
from evaluations.models import Metric, Run

FEW = 10


@dataclass(frozen=True, slots=True)
class Share:
    """A pass rate: `value` among `judged`, with Wilson's 95% interval."""

    passed: int
    failed: int
    errored: int
    not_applicable: int

    @property
    def judged(self) -> int:
        return self.passed + self.failed

    @property
    def counted(self) -> int:
        return self.judged + self.errored + self.not_applicable

    @property
    def value(self) -> float | None:
        return self.passed / self.judged if self.judged else None

    @property
    def percent(self) -> str:
        """“80.3%”, or nothing without rows that were judged."""
        return f"{100 * self.passed / self.judged:.1f}%" if self.judged else ""

    @property
    def interval(self) -> tuple[float, float] | None:
        if not self.judged:
            return None
        interval = wilson(self.passed, self.judged)
        return interval.low, interval.high

    @property
    def interval_text(self) -> tuple[str, str] | None:
        """Its ends: “74.8%”, “84.9%”."""
        ends = self.interval
        return (f"{100 * ends[0]:.1f}%", f"{100 * ends[1]:.1f}%") if ends else None

    @property
    def is_few(self) -> bool:
        return 0 < self.judged < FEW


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar of a histogram. `query` leads to the rows behind it."""

    name: str
    count: int
    query: str


@dataclass(frozen=True, slots=True)
class ScoreCard:
    """One metric of a run: its counts, pass rate, mean and distribution."""

    metric: Metric
    tally: MetricTally

    @property
    def name(self) -> str:
        return name_of(self.metric)

    @property
    def title(self) -> str:
        """The metric's own name."""
        return self.metric.name

    @property
    def criterion(self) -> str:
        """The criterion's name where the title does not say it already."""
        name: str = self.metric.criterion.name
        return "" if name.casefold() == self.title.casefold() else name

    @property
    def share(self) -> Share:
        tally = self.tally
        return Share(tally.passed, tally.failed, tally.errored, tally.not_applicable)

    @property
    def mean(self) -> float | None:
        return self.tally.mean()

    @property
    def mean_interval(self) -> tuple[float, float] | None:
        interval = self.tally.mean_interval()
        return (interval.low, interval.high) if interval else None

    @property
    def mean_text(self) -> str:
        mean = self.mean
        return "" if mean is None else _figure(mean)

    @property
    def mean_interval_text(self) -> tuple[str, str] | None:
        """Its ends: “−0.10”, “0.42”."""
        ends = self.mean_interval
        return (_figure(ends[0]), _figure(ends[1])) if ends else None

    @property
    def half(self) -> float | None:
        """Half the width of the mean's interval."""
        ends = self.mean_interval
        return (ends[1] - ends[0]) / 2 if ends else None

    @property
    def passes(self) -> bool | None:
        """Whether the mean itself reaches the threshold."""
        mean, limit = self.mean, self.metric.threshold
        if mean is None or limit is None:
            return None
        return mean >= limit if self.metric.direction == "increase" else mean <= limit

    @property
    def histogram_kind(self) -> str:
        return "continuous" if self.tally.scale.kind == "continuous" else "ordinal"

    @property
    def bars(self) -> list[Bar]:
        scale = self.tally.scale
        edges = scale.edges()
        bars = []
        for place, count in enumerate(self.tally.histogram):
            if scale.kind == "continuous":
                name = f"{edges[place]:.2f}–{edges[place + 1]:.2f}"
            else:
                name = f"{edges[place]:g}"
            query = f"?bin={place}&metric={self.metric.pk}#rows"
            bars.append(Bar(name, count, query))
        return bars

    @property
    def bins(self) -> list[tuple[str, int]]:
        return [(bar.name, bar.count) for bar in self.bars]

    @property
    def links(self) -> list[str]:
        return [bar.query for bar in self.bars]


def _figure(value: float) -> str:
    """Two decimals with a true minus; what rounds to zero has no sign."""
    text = f"{value:.2f}"
    return text.replace("-", "" if float(text) == 0 else "−")


@dataclass(frozen=True, slots=True)
class CardGroup:
    """Scores that stand together: those of one composite under its name."""

    name: str
    cards: list[ScoreCard]


def card_groups(cards: list[ScoreCard]) -> list[CardGroup]:
    """Single scores first, in one group without a name; then each composite."""
    by_criterion: dict[int, list[ScoreCard]] = {}
    for card in cards:
        by_criterion.setdefault(card.metric.criterion_id, []).append(card)
    alone = [found[0] for found in by_criterion.values() if len(found) == 1]
    composites = [
        CardGroup(found[0].metric.criterion.name, found)
        for found in by_criterion.values()
        if len(found) > 1
    ]
    return [CardGroup("", alone), *composites]


def headings(metrics: Mapping[int, Metric]) -> dict[int, tuple[str, str]]:
    """The metrics' own names, and their criterion's where two would be alike."""
    counts = Counter(metric.name for metric in metrics.values())
    found = {}
    for pk, metric in metrics.items():
        name, criterion = metric.name, metric.criterion.name
        is_clear = counts[name] == 1 or criterion.casefold() == name.casefold()
        found[pk] = name, "" if is_clear else criterion
    return found


def name_of(metric: Metric) -> str:
    """The metric's name, with its evaluator's where that says more."""
    criterion, metric_name = metric.criterion.name, metric.name
    if metric_name.casefold() in criterion.casefold():
        return criterion
    if metric_name.split()[:1] == criterion.split()[:1]:
        return metric_name
    return f"{criterion}: {metric_name}"


def score_cards(
    run: Run, metrics: Mapping[int, Metric], *, in_list: bool = False
) -> list[ScoreCard]:
    """A card per metric, primary ones first; empty tallies where nothing is scored.

    1 query, none when the summaries were fetched before. A list takes the kept
    tallies of an open run as well, so that it costs no query for each run.
    """
    # While a run is open its counts go on: scores and rows must be of one moment.
    is_live = run.is_open and not in_list
    kept = summaries.count(run) if is_live else summaries.tallies_of(run)
    cards = [
        ScoreCard(metric, kept.get(pk) or MetricTally.of(metric.spec))
        for pk, metric in metrics.items()
    ]
    return sorted(cards, key=lambda card: not card.metric.is_primary)


def rows_passed(run: Run) -> Share:
    """The share of rows that passed, among those that passed or failed."""
    return Share(run.passed, run.failed, run.errored, run.skipped)


@dataclass(frozen=True, slots=True)
class RunLine:
    """A run as one line of a list. `cards` are its primary scores."""

    run: Run
    cards: list[ScoreCard]

    @classmethod
    def of(cls, run: Run, metrics: Mapping[int, Metric]) -> RunLine:
        """No query when the summaries were fetched before."""
        cards = score_cards(run, metrics, in_list=True)
        return cls(run, [card for card in cards if card.metric.is_primary])

    @property
    def main(self) -> ScoreCard | None:
        return next(iter(self.cards), None)

    @property
    def share(self) -> Share:
        return rows_passed(self.run)

    @property
    def percent(self) -> int:
        """Rows that are done, in whole percent; 100 only when all are."""
        return 100 * self.run.done // self.run.total if self.run.total else 0

    @property
    def target(self) -> str:
        return target_name(self.run)

    @property
    def target_tokens(self) -> int:
        return self.run.target_prompt_tokens + self.run.target_completion_tokens

    @property
    def judge_tokens(self) -> int:
        return self.run.judge_prompt_tokens + self.run.judge_completion_tokens

    @property
    def all_tokens(self) -> int:
        return self.target_tokens + self.judge_tokens

    @property
    def seconds(self) -> float | None:
        """How long the run took; None while it is open."""
        run = self.run
        if run.started_at is None or run.finished_at is None:
            return None
        return (run.finished_at - run.started_at).total_seconds()


def target_name(run: Run) -> str:
    """What was evaluated, in words."""
    if run.target.get("kind") == "dataset":
        return _("Responses in the dataset")
    return run.deployment.label if run.deployment else _("A model that was deleted")
