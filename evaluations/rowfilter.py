"""Which rows of a run a page shows, and in which order: all of it in the address."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from django.db.models import Exists, F, OuterRef, Q, QuerySet, Subquery
from django.http import QueryDict

from assay.scoring.outcome import Outcome
from assay.scoring.summary import Scale
from datasets.models import Contents
from datasets.queries import written_in
from evaluations.labels import disagreeing, labelled
from evaluations.models import Item, Metric, Result, Run

RESULTS = {
    "pass": Outcome.PASS,
    "fail": Outcome.FAIL,
    "error": Outcome.ERROR,
    "na": Outcome.NOT_APPLICABLE,
}
LABELS = ("any", "disagree")
HAS = {"image": Contents.IMAGE, "audio": Contents.AUDIO}
SORTS = ("index", "latency", "result")
PER_PAGE = (20, 50, 100)
NO_COLUMNS = "none"
CODE = re.compile(r"[A-Za-z0-9_.-]{1,40}")
NEAR = 1e-9
"""Scores this close to the edge of a bar in a histogram lie on the edge."""


@dataclass(frozen=True, slots=True)
class RowFilter:
    """A parsed query string; what it does not understand is ignored.

    `metric` with `verdict`, `low`, `high` or `bin` looks at one metric's results;
    `verdict` alone at any metric's. `bin` is a bar of the metric's histogram, `code`
    the code of an error. `sort` is a name of `SORTS` or a metric id, with a minus
    sign for descending. `columns` are the optional columns shown; None stands for the
    usual ones.
    """

    q: str = ""
    result: str = ""
    has: str = ""
    label: str = ""
    metric: int | None = None
    verdict: str = ""
    code: str = ""
    low: float | None = None
    high: float | None = None
    bin: int | None = None
    sort: str = "index"
    page: int = 1
    per: int = 20
    columns: tuple[str, ...] | None = None

    @classmethod
    def parse(
        cls,
        query: QueryDict,
        metrics: Mapping[int, Metric],
        offered: Mapping[str, bool] | None = None,
    ) -> RowFilter:
        """`offered` are the optional columns, and whether each is usually shown."""
        metric = whole(query.get("metric"))
        sort = query.get("sort", "index")
        name = sort.removeprefix("-")
        known = name in SORTS or (name.isdecimal() and whole(name) in metrics)
        per = whole(query.get("per")) or 20
        verdict, code = query.get("verdict", ""), query.get("code", "")
        wanted = cls(
            q=query.get("q", "").replace("\0", "").strip()[:200],
            result=query.get("result", "") if query.get("result") in RESULTS else "",
            has=query.get("has", "") if query.get("has") in HAS else "",
            label=query.get("label", "") if query.get("label") in LABELS else "",
            metric=metric if metric in metrics else None,
            verdict=verdict if verdict in RESULTS else "",
            code=code if CODE.fullmatch(code) else "",
            low=_number(query.get("min")),
            high=_number(query.get("max")),
            bin=whole(query.get("bin")),
            sort=sort if known else "index",
            page=min(max(1, whole(query.get("page")) or 1), 10**6),
            per=per if per in PER_PAGE else 20,
            columns=_columns(query.getlist("cols"), offered or {}),
        )
        return wanted._useful()

    def _useful(self) -> RowFilter:
        """Without parts that say nothing: a range of no metric, a metric alone."""
        if self.metric is None:
            return replace(self, low=None, high=None, bin=None)
        if self.looks_at_metric:
            return self
        return replace(self, metric=None)

    @property
    def is_filtered(self) -> bool:
        plain = RowFilter(
            sort=self.sort, page=self.page, per=self.per, columns=self.columns
        )
        return self != plain

    @property
    def looks_at_metric(self) -> bool:
        ranges = (self.low, self.high, self.bin)
        in_range = any(part is not None for part in ranges)
        return bool(self.verdict or self.code) or in_range

    def as_query(self) -> dict[str, str]:
        """The canonical query: sorted, defaults are left out."""
        values: dict[str, object] = {
            "q": self.q,
            "result": self.result,
            "has": self.has,
            "label": self.label,
            "metric": "" if self.metric is None else self.metric,
            "verdict": self.verdict,
            "code": self.code,
            "min": "" if self.low is None else f"{self.low:g}",
            "max": "" if self.high is None else f"{self.high:g}",
            "bin": "" if self.bin is None else self.bin,
            "sort": "" if self.sort == "index" else self.sort,
            "page": "" if self.page == 1 else self.page,
            "per": "" if self.per == 20 else self.per,
            "cols": ""
            if self.columns is None
            else ".".join(self.columns) or NO_COLUMNS,
        }
        return {key: str(value) for key, value in sorted(values.items()) if value != ""}

    def of_list(self) -> RowFilter:
        """What decides which rows there are and in which order, and nothing else."""
        return replace(self, page=1, per=20, columns=None)


def whole(text: str | None) -> int | None:
    if not text or not text.isascii() or not text.isdecimal() or len(text) > 15:
        return None
    return int(text)


def _number(text: str | None) -> float | None:
    try:
        value = float(text.replace(",", ".")) if text else None
    except ValueError:
        return None
    return value if value is not None and abs(value) < 1e12 else None


def _columns(
    given: Iterable[str], offered: Mapping[str, bool]
) -> tuple[str, ...] | None:
    """The offered columns among those given; None when they are the usual ones."""
    names = {name for part in given for name in part.split(".") if name}
    chosen = tuple(name for name in offered if name in names)
    usual = tuple(name for name, is_usual in offered.items() if is_usual)
    if chosen == usual or (not chosen and NO_COLUMNS not in names):
        return None
    return chosen


def filtered_items(run: Run, wanted: RowFilter) -> QuerySet[Item]:
    """Items of `run` that match, in the order wanted. No query is made yet."""
    items = Item.objects.filter(run=run)
    if wanted.result:
        items = items.filter(outcome=RESULTS[wanted.result])
    if wanted.has:
        items = items.annotate(held=F("row__contents").bitand(HAS[wanted.has]))
        items = items.filter(held__gt=0)
    if wanted.label:
        found = disagreeing(run) if wanted.label == "disagree" else labelled(run)
        items = items.filter(found)
    if wanted.looks_at_metric:
        items = items.filter(pk__in=_results(run, wanted).values("item"))
    if wanted.q:
        items = items.filter(_matches(wanted.q))
    return _ordered(items, wanted.sort)


def _results(run: Run, wanted: RowFilter) -> QuerySet[Result]:
    """Results that match; one metric's are found by an index."""
    results = Result.objects.filter(run=run)
    if wanted.metric is not None:
        results = results.filter(metric=wanted.metric)
    if wanted.code:
        results = results.filter(outcome=Outcome.ERROR, error_code=wanted.code)
    if wanted.verdict:
        results = results.filter(outcome=RESULTS[wanted.verdict])
    elif wanted.metric is not None and not wanted.code:
        results = results.filter(outcome__in=[Outcome.PASS, Outcome.FAIL])
    if wanted.low is not None:
        results = results.filter(score__gte=wanted.low - NEAR)
    if wanted.high is not None:
        results = results.filter(score__lte=wanted.high + NEAR)
    if wanted.bin is not None and wanted.metric is not None:
        results = results.filter(_inside_bin(wanted.metric, wanted.bin))
    return results


def _inside_bin(metric_id: int, place: int) -> Q:
    """Scores in one bar of a metric's histogram; the outer bars hold what is beyond."""
    metric = Metric.objects.get(pk=metric_id)
    scale = Scale.of(metric.spec)
    if place >= scale.bins:
        return Q(pk__in=[])
    low, high = edges_of(scale, place)
    inside = Q()
    if place > 0:
        inside &= Q(score__gte=low - NEAR)
    if place < scale.bins - 1:
        inside &= Q(score__lt=high - NEAR)
    return inside


def edges_of(scale: Scale, place: int) -> tuple[float, float]:
    """Where a bar begins and ends. A level lies in the middle of its bar."""
    edges = scale.edges()
    if scale.kind == "continuous":
        return edges[place], edges[place + 1]
    return edges[place] - 0.5, edges[place] + 0.5


def _matches(words: str) -> Q:
    """Rows whose data, output or reasons hold the words. JSON text is ASCII."""
    escaped = json.dumps(words)[1:-1]
    reasons = Result.objects.filter(item=OuterRef("pk"), reason__icontains=words)
    return (
        Q(input_preview__icontains=words)
        | Q(preview__icontains=words)
        | written_in("row__data", words)
        | Q(output__icontains=escaped)
        | Q(error_text__icontains=words)
        | Q(Exists(reasons))
    )


def _ordered(items: QuerySet[Item], sort: str) -> QuerySet[Item]:
    name = sort.removeprefix("-")
    if name == "index":
        flag = "-" if sort.startswith("-") else ""
        return items.order_by(f"{flag}index", f"{flag}repeat")
    if name == "latency":
        key = F("latency_ms")
    elif name == "result":
        key = F("outcome")
    else:
        scores = Result.objects.filter(item=OuterRef("pk"), metric=int(name))
        items = items.annotate(sort_score=Subquery(scores.values("score")[:1]))
        key = F("sort_score")
    order = (
        key.desc(nulls_last=True) if sort.startswith("-") else key.asc(nulls_last=True)
    )
    return items.order_by(order, "index", "repeat")
