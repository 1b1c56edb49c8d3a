"""Sentence GLEU with one reference (Wu and others, 2016)."""

from __future__ import annotations

from collections.abc import Sequence

from assay.scoring.metrics.overlap import common_count, ngrams

MAX_ORDER = 4


def sentence_gleu(response: Sequence[str], truth: Sequence[str]) -> float:
    """GLEU of token lists; 0.0 to 1.0, and 0 when either is empty.

    All n-grams of orders 1 to 4 in one bag: common / max(|response bag|,
    |truth bag|), which is the smaller of their precision and recall.
    """
    own, other = _bag(response), _bag(truth)
    size = max(len(own), len(other))
    return common_count(own, other) / size if size else 0.0


def _bag(tokens: Sequence[str]) -> list[tuple[str, ...]]:
    return [gram for order in range(1, MAX_ORDER + 1) for gram in ngrams(tokens, order)]
