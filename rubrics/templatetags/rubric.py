"""Template tags of rubrics: `{% load rubric %}`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django import template

from assay.scoring.rubric.definition import ALLOWED, DISALLOWED

register = template.Library()


@dataclass(frozen=True, slots=True)
class Term:
    """A dimension in the sum. `product` is None when it is not applicable."""

    id: str
    score: int | None
    weight: int
    product: int | None


@dataclass(frozen=True, slots=True)
class Sums:
    """A score spelled out: products, their sum, the total weight, the mean.

    `is_check` marks a checklist, whose score is the share of checks that passed.
    """

    terms: list[Term]
    total: int
    weight: int
    mean: float
    is_check: bool
    is_weighted: bool


@register.simple_tag
def arithmetic(
    dimension_scores: Iterable[Mapping[str, Any]] | None,
    score: float | None,
    raw_mean: float | None,
) -> Sums:
    """The sums behind a score. Without a weight all dimensions weigh 1.

    A mean on the judge's scale from 1 to 5 never equals its score; the share of a
    checklist does.
    """
    listed = list(dimension_scores or ())
    terms = []
    for item in listed:
        weight = item.get("weight")
        weight = 1 if weight is None else weight
        level = item.get("score")
        product = None if level is None else weight * level
        terms.append(Term(str(item.get("id", "")), level, weight, product))
    applied = [term for term in terms if term.product is not None]
    total = sum(term.product or 0 for term in applied)
    weight_sum = sum(term.weight for term in applied)
    return Sums(
        terms=terms,
        total=total,
        weight=weight_sum,
        mean=total / weight_sum if weight_sum else 0.0,
        is_check=score is not None and score == raw_mean,
        is_weighted=any(item.get("weight") is not None for item in listed),
    )


@register.filter
def part_name(metric: str) -> str:
    """ "allowed" or "disallowed" for the parts of a safety rubric, else ""."""
    return metric if metric in (ALLOWED, DISALLOWED) else ""


@register.filter
def column_of(path: str) -> str:
    """ "item.question" → "question"."""
    return path.removeprefix("item.")
