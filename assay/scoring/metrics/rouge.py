"""ROUGE-N and ROUGE-L (Lin, 2004), without stemming."""

from __future__ import annotations

from collections.abc import Sequence

from assay.scoring.metrics.overlap import Overlap, common_count, ngrams

ROUGE_TYPES = ("rouge1", "rouge2", "rouge3", "rouge4", "rouge5", "rougeL")


def rouge_overlap(response: Sequence[str], truth: Sequence[str], kind: str) -> Overlap:
    """Precision, recall and F1 of the given kind, one of `ROUGE_TYPES`.

    rouge1 to rouge5 count common n-grams, rougeL the longest common subsequence;
    both are divided by the response's and the truth's number of n-grams or tokens,
    at least 1. Raises `ValueError` for another kind.
    """
    if kind not in ROUGE_TYPES:
        raise ValueError(f"Unknown ROUGE type {kind!r}.")
    if kind == "rougeL":
        common = common_subsequence(response, truth)
        return Overlap.of(common, len(response), len(truth))
    order = int(kind[-1])
    own, other = ngrams(response, order), ngrams(truth, order)
    return Overlap.of(common_count(own, other), len(own), len(other))


def common_subsequence(first: Sequence[str], second: Sequence[str]) -> int:
    """Length of the longest common subsequence.

    Bit-parallel (Crochemore and others, 2001; Hyyro, 2004): one big integer holds a
    row of the table, a zero bit marks each column where the length grows. A row
    costs a few operations on |second| bits, so two texts of 20,000 tokens take well
    under a second instead of minutes.
    """
    places: dict[str, int] = {}
    for index, token in enumerate(second):
        places[token] = places.get(token, 0) | 1 << index
    mask = (1 << len(second)) - 1
    row = mask
    for token in first:
        hits = row & places.get(token, 0)
        if hits:
            row = ((row + hits) | (row - hits)) & mask
    return len(second) - row.bit_count()
