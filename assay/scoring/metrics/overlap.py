"""Token overlap: precision, recall and F1 of two bags of tokens."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

Item = TypeVar("Item", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Overlap:
    """Shares of the response and of the truth that the other has, and their F1."""

    precision: float
    recall: float
    f1: float

    @classmethod
    def of(cls, common: int, response: int, truth: int) -> Overlap:
        """From counts. An empty side counts as one, so nothing is divided by zero."""
        precision, recall = common / max(1, response), common / max(1, truth)
        total = precision + recall
        f1 = 2 * precision * recall / total if total else 0.0
        return cls(precision, recall, f1)


def common_count(first: Iterable[Item], second: Iterable[Item]) -> int:
    """Size of the multiset intersection."""
    return (Counter(first) & Counter(second)).total()


def ngrams(tokens: Sequence[str], size: int) -> list[tuple[str, ...]]:
    """All runs of `size` tokens, in order."""
    return list(zip(*(tokens[start:] for start in range(size)), strict=False))


def token_overlap(response: Sequence[str], truth: Sequence[str]) -> Overlap:
    """Overlap of two token lists as multisets; all zero when they share nothing.

    precision = common/|response|, recall = common/|truth|,
    F1 = 2*precision*recall/(precision + recall): the F1 of extractive question
    answering (Rajpurkar and others, 2016).
    """
    return Overlap.of(common_count(response, truth), len(response), len(truth))
