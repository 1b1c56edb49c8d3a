"""METEOR with one reference (Banerjee and Lavie, 2005)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

from assay.data.synonyms import synonyms
from assay.scoring.metrics.porter import stem

Pair = tuple[int, int]
Indexed = dict[int, str]


def meteor_score(
    response: Sequence[str],
    truth: Sequence[str],
    *,
    alpha: float = 0.9,
    beta: float = 3.0,
    gamma: float = 0.5,
) -> float:
    """METEOR of token lists; 0 when nothing matches.

    Tokens are paired in three passes: equal in lower case, equal stems, WordNet
    synonyms. With m pairs in `chunks` runs adjacent in both texts, P = m/|response|
    and R = m/|truth|: score = (1 - gamma*(chunks/m)**beta) * P*R/(alpha*P +
    (1 - alpha)*R). Two equal texts score a little below 1, since they are one chunk.
    """
    pairs = align(response, truth)
    if not pairs:
        return 0.0
    count = len(pairs)
    precision, recall = count / len(response), count / len(truth)
    mean = precision * recall / (alpha * precision + (1 - alpha) * recall)
    return mean * (1 - gamma * math.pow(_chunks(pairs) / count, beta))


def align(response: Sequence[str], truth: Sequence[str]) -> list[Pair]:
    """Positions of matching tokens, ordered by their place in the response.

    The third pass looks up the *stems* left over by the second, as the reference
    implementation does; the words themselves would give other scores.
    """
    own = {i: token.lower() for i, token in enumerate(response)}
    other = {i: token.lower() for i, token in enumerate(truth)}
    pairs = _match(own, other, lambda word: (word,))
    own = {i: _stem(word) for i, word in own.items()}
    other = {i: _stem(word) for i, word in other.items()}
    pairs += _match(own, other, lambda word: (word,))
    pairs += _match(own, other, synonyms)
    return sorted(pairs)


def _stem(word: str) -> str:
    """The stemmer knows English only; words with other letters are their own stem."""
    return stem(word) if word.isascii() else word


def _match(
    own: Indexed, other: Indexed, variants: Callable[[str], Iterable[str]]
) -> list[Pair]:
    """Pair tokens from the end: each with the last free one equal to a variant.

    Takes the paired tokens out of both. Places of each truth token are kept as
    stacks, so the passes take time in proportion to the texts' length.
    """
    places: dict[str, list[int]] = {}
    for index, word in other.items():
        places.setdefault(word, []).append(index)
    pairs = []
    for index in sorted(own, reverse=True):
        free = [places[v] for v in variants(own[index]) if places.get(v)]
        if free:
            last = max(free, key=lambda stack: stack[-1])
            pairs.append((index, last.pop()))
    for index, partner in pairs:
        del own[index], other[partner]
    return pairs


def _chunks(pairs: list[Pair]) -> int:
    breaks = sum(
        (a + 1, b + 1) != following
        for (a, b), following in zip(pairs, pairs[1:], strict=False)
    )
    return breaks + 1
