"""Which rows of a run a page shows, and in which order: all of it in the address."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace

from django.db.models import Exists, F, OuterRef, Q, QuerySet, Subquery

from assay.scoring.outcome import Outcome
from evaluations.models import Item, Metric, Result, Run

RESULTS = {
    "pass": Outcome.PASS,
    "fail": Outcome.FAIL,
    "error": Outcome.ERROR,
    "na": Outcome.NOT_APPLICABLE,
}
SORTS = ("index", "latency", "result")
PER_PAGE = (20, 50, 100)


@dataclass(frozen=True, slots=True)
class RowFilter:
    """A parsed query string; what it does not understand is ignored.

    `metric` with `verdict`, `low` or `high` looks at one metric's results. `sort` is
    a name of `SORTS` or a metric id, with a minus sign for descending.
    """

    q: str = ""
    result: str = ""
    has: str = ""
    metric: int | None = None
    verdict: str = ""
    low: float | None = None
    high: float | None = None
    sort: str = "index"
    page: int = 1
    per: int = 20
    columns: tuple[str, ...] = ()

    @classmethod
    def parse(
        cls, query: Mapping[str, str], metrics: Mapping[int, Metric]
    ) -> RowFilter:
        metric = _whole(query.get("metric"))
        sort = query.get("sort", "index")
        name = sort.removeprefix("-")
        known = name in SORTS or (name.isdigit() and int(name) in metrics)
        per = _whole(query.get("per")) or 20
        columns = tuple(c for c in query.get("cols", "").split(",") if c)
        return cls(
            q=query.get("q", "").strip()[:200],
            result=query.get("result", "") if query.get("result") in RESULTS else "",
            has=query.get("has", "") if query.get("has") in {"image", "audio"} else "",
            metric=metric if metric in metrics else None,
            verdict=query.get("verdict", "") if query.get("verdict") in RESULTS else "",
            low=_number(query.get("min")),
            high=_number(query.get("max")),
            sort=sort if known else "index",
            page=max(1, _whole(query.get("page")) or 1),
            per=per if per in PER_PAGE else 20,
            columns=columns,
        )

    @property
    def is_filtered(self) -> bool:
        plain = RowFilter(
            sort=self.sort, page=self.page, per=self.per, columns=self.columns
        )
        return self != plain

    @property
    def looks_at_metric(self) -> bool:
        return self.metric is not None and (
            bool(self.verdict) or self.low is not None or self.high is not None
        )

    def as_query(self) -> dict[str, str]:
        """The canonical query: defaults are left out."""
        values: dict[str, object] = {
            "q": self.q,
            "result": self.result,
            "has": self.has,
            "metric": self.metric if self.metric is not None else "",
            "verdict": self.verdict,
            "min": "" if self.low is None else f"{self.low:g}",
            "max": "" if self.high is None else f"{self.high:g}",
            "sort": "" if self.sort == "index" else self.sort,
            "page": "" if self.page == 1 else self.page,
            "per": "" if self.per == 20 else self.per,
            "cols": ",".join(self.columns),
        }
        return {key: str(value) for key, value in sorted(values.items()) if value != ""}

    def first_page(self) -> RowFilter:
        return replace(self, page=1)


def _whole(text: str | None) -> int | None:
    return int(text) if text and text.isascii() and text.isdigit() else None


def _number(text: str | None) -> float | None:
    try:
        value = float(text.replace(",", ".")) if text else None
    except ValueError:
        return None
    return value if value is not None and abs(value) < 1e12 else None


def filtered_items(run: Run, wanted: RowFilter) -> QuerySet[Item]:
    """Items of `run` that match, in the order wanted. No query is made yet."""
    items = Item.objects.filter(run=run)
    if wanted.result:
        items = items.filter(outcome=RESULTS[wanted.result])
    if wanted.has:
        items = items.filter(row__data__contains=f'"mime":"{wanted.has}/')
    if wanted.looks_at_metric:
        items = items.filter(Exists(_results(wanted)))
    if wanted.q:
        items = items.filter(_matches(wanted.q))
    return _ordered(items, wanted.sort)


def _results(wanted: RowFilter) -> QuerySet[Result]:
    results = Result.objects.filter(item=OuterRef("pk"), metric=wanted.metric)
    if wanted.verdict:
        results = results.filter(outcome=RESULTS[wanted.verdict])
    if wanted.low is not None:
        results = results.filter(score__gte=wanted.low)
    if wanted.high is not None:
        results = results.filter(score__lte=wanted.high)
    return results


def _matches(words: str) -> Q:
    """Rows whose data, output or reasons hold the words. JSON text is ASCII."""
    escaped = json.dumps(words)[1:-1]
    reasons = Result.objects.filter(item=OuterRef("pk"), reason__icontains=words)
    return (
        Q(input_preview__icontains=words)
        | Q(preview__icontains=words)
        | Q(row__data__icontains=escaped)
        | Q(output__icontains=escaped)
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
