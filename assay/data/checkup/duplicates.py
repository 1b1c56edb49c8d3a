"""Finds rows that repeat another row, exactly or nearly.

While rows stream by, `Duplicates.add` keeps a signature of each. At the end equal
signatures tell exact repeats; candidates for near ones are read again in small groups
and compared word by word.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from assay.data.checkup.kinds import Finding, FindingKind
from assay.data.checkup.nearness import Near, answer_text, compare, main_text
from assay.data.checkup.roles import role_of
from assay.data.checkup.signatures import BANDS, U32, U64, Signatures, digest, signature
from assay.data.checkup.texts import plain, words
from assay.data.jsonx import JSON, JSONObject, canonical
from assay.data.text import Sentence
from assay.data.text import gettext_noop as _

_REPEATS = _("Repeats row %(first)s")
_LIKE = _("%(percent)s%% like row %(first)s")

RowsAt = Callable[[Sequence[int]], Mapping[int, JSONObject]]

_FORMAL = re.compile(r"\d+|[+*/^=<>%×÷−√∑∫≤≥≠]|(?<=\d) ?- ?(?=\d)")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|[0-9a-f]{24}")
_SHORT_ANSWER = 60
_COMMON_ANSWER = 5
_SMALL_ANSWER = 4
_NEIGHBOURS = 2
_LEAST_AGREEMENT = 13
_MOST_SIMILAR = 40_000
_MOST_SAME = 100_000
_PAIRS_AT_ONCE = 50_000
_ROWS_AT_ONCE = 200
_CHARACTERS_AT_ONCE = 4_000_000
_LONGEST_COMPARED = 200_000


class Duplicates:
    def __init__(self) -> None:
        self._seen = Signatures()

    def add(self, row: int, values: JSONObject) -> None:
        kept = {n: v for n, v in values.items() if not _is_id(n, v)}
        if not any(v not in (None, "") for v in kept.values()):
            self._seen.add(row, 0, (0, 0, 0), None)
            return
        written = _written(kept)
        main = main_text(values)
        lower = plain(main)
        folded = "".join(words(lower))
        answer = words(plain(answer_text(values)))
        answer_key = _answer_key(answer)
        salt = digest(f"{answer_key} {' '.join(_FORMAL.findall(lower))}")
        is_compared = bool(folded) and len(main) <= _LONGEST_COMPARED
        keys = (
            digest(written),
            digest(folded + str(salt)) if is_compared else 0,
            answer_key if _tells_apart(answer) else 0,
        )
        seen = signature(folded, salt) if is_compared else None
        self._seen.add(row, len(written), keys, seen)

    def end(self, rows_at: RowsAt) -> Iterator[Finding]:
        first = _first_of_equal(self._seen.column(self._seen.whole))
        rows = self._seen.row
        for at, earliest in enumerate(first.tolist()):
            if earliest != at:
                detail = Sentence(_REPEATS, {"first": rows[earliest]})
                yield Finding(FindingKind.DUPLICATE, rows[at], None, detail)
        unlike = np.flatnonzero(first == np.arange(first.size))
        yield from _Nearly(self._seen, unlike, rows_at).findings()


def _is_id(name: str, value: JSON) -> bool:
    if role_of(name) == "id":
        return True
    return isinstance(value, str) and _UUID.fullmatch(value[:40]) is not None


def _written(values: JSONObject) -> str:
    """One text for all equal rows, whatever stands in them."""
    try:
        return canonical(values)
    except (ValueError, RecursionError):
        return _flat(values)


def _flat(value: JSON) -> str:
    """Like `canonical` for values that are too deep or numbers that are too long."""
    parts: list[str] = []
    stack: list[JSON] = [value]
    while stack:
        current = stack.pop()
        if isinstance(current, dict):
            parts.append("{")
            for key in sorted(current):
                stack.extend((current[key], key))
        elif isinstance(current, (list, tuple)):
            parts.append("[")
            stack.extend(current)
        elif isinstance(current, int):
            parts.append(hex(current))
        else:
            parts.append(repr(current))
    return "\0".join(parts)


def _answer_key(answer: list[str]) -> int:
    """Equal for answers that may be the same in substance; 0 for none."""
    text = "".join(answer)
    if len(text) < _SHORT_ANSWER:
        return digest(text) if text else 0
    return digest(" ".join(word for word in answer if word.isdigit()))


def _tells_apart(answer: list[str]) -> bool:
    """Not a letter of an option, a number, yes or no."""
    text = "".join(answer)
    return len(text) >= _SMALL_ANSWER and not text.isdigit()


def _first_of_equal(keys: U64) -> np.ndarray:
    """(rows,) place of the earliest row with the same key; its own for key 0."""
    own = np.arange(keys.size)
    if not keys.size:
        return own
    _values, earliest, group = np.unique(keys, return_index=True, return_inverse=True)
    found: np.ndarray = np.where(keys == 0, own, earliest[group])
    return found


def _packed(firsts: np.ndarray, seconds: np.ndarray) -> U64:
    """Pairs of places as one number each."""
    return (firsts.astype(np.uint64) << np.uint64(32)) | seconds.astype(np.uint64)


def _unpacked(pairs: U64) -> tuple[np.ndarray, np.ndarray]:
    firsts = (pairs >> np.uint64(32)).astype(np.int64)
    return firsts, (pairs & np.uint64(0xFFFFFFFF)).astype(np.int64)


def _paired(keys: U32, places: np.ndarray) -> U64:
    """Each row with the first row that has its key and with those just before it."""
    order = np.argsort(keys, kind="stable")
    ordered, where = keys[order], places[order]
    is_start = np.ones(ordered.size, bool)
    is_start[1:] = ordered[1:] != ordered[:-1]
    start = np.maximum.accumulate(np.where(is_start, np.arange(ordered.size), 0))
    is_later = ~is_start & (ordered != 0)
    found = [_packed(where[start[is_later]], where[is_later])]
    for back in range(1, _NEIGHBOURS + 1):
        same = (ordered[back:] == ordered[:-back]) & (ordered[back:] != 0)
        found.append(_packed(where[:-back][same], where[back:][same]))
    return np.unique(np.concatenate(found))


class _Nearly:
    """Candidates among rows that differ, and their comparison."""

    def __init__(self, seen: Signatures, unlike: np.ndarray, rows_at: RowsAt) -> None:
        self._seen = seen
        self._unlike = unlike
        self._rows_at = rows_at
        self._earliest: dict[int, tuple[int, int]] = {}
        self._slots: dict[int, list[tuple[int, int, int]]] = {}

    def findings(self) -> Iterator[Finding]:
        pairs = self._pairs()
        commons = self._common_answers()
        for group in self._groups(pairs):
            places = {at for pair in group for at in pair}
            values = self._rows_at(sorted(self._seen.row[at] for at in places))
            for first, second in group:
                self._compare(first, second, values, commons)
        self._settle_slots()
        for second in sorted(self._earliest):
            first, percent = self._earliest[second]
            row = self._seen.row
            detail = Sentence(_LIKE, {"percent": percent, "first": row[first]})
            yield Finding(FindingKind.NEAR_DUPLICATE, row[second], None, detail)

    def _compare(
        self,
        first: int,
        second: int,
        values: Mapping[int, JSONObject],
        commons: frozenset[int],
    ) -> None:
        one = values.get(self._seen.row[first])
        other = values.get(self._seen.row[second])
        if one is None or other is None:
            return
        answer = self._seen.answer[second]
        near = compare(one, other, is_own=bool(answer) and answer not in commons)
        if near is None:
            return
        if near.slot is None:
            self._keep(first, second, near)
        else:
            entry = (first, second, near.percent)
            others = self._slots.setdefault(near.slot, [])
            if len(others) < 2:
                others.append(entry)

    def _keep(self, first: int, second: int, near: Near) -> None:
        known = self._earliest.get(second)
        if known is None or first < known[0]:
            self._earliest[second] = (first, near.percent)

    def _settle_slots(self) -> None:
        """Texts that differ in one place among three rows or more are a template."""
        for entries in self._slots.values():
            if len(entries) == 1:
                first, second, percent = entries[0]
                self._keep(first, second, Near(percent))

    def _common_answers(self) -> frozenset[int]:
        """Answers that many rows share, such as labels."""
        keys, counts = np.unique(
            self._seen.column(self._seen.answer), return_counts=True
        )
        return frozenset(keys[counts > _COMMON_ANSWER].tolist())

    def _pairs(self) -> list[tuple[int, int]]:
        """Pairs (earlier, later) worth comparing, the later rows in order."""
        folded = self._seen.column(self._seen.folded)[self._unlike]
        first = _first_of_equal(folded)
        is_later = first != np.arange(first.size)
        same = _packed(self._unlike[first[is_later]], self._unlike[is_later])
        # Rows with the same letters are settled; the first of them stands for all.
        alone = self._unlike[~is_later]
        similar = np.empty(0, np.uint64)
        for number in range(BANDS):
            keys = self._seen.band(number)[alone]
            similar = np.union1d(similar, self._alike(_paired(keys, alone)))
            similar = self._best(similar)
        pairs = np.concatenate([same[:_MOST_SAME], similar])
        firsts, seconds = _unpacked(pairs)
        order = np.lexsort((firsts, seconds))
        return list(zip(firsts[order].tolist(), seconds[order].tolist(), strict=True))

    def _agreement(self, pairs: U64) -> np.ndarray:
        """(pairs,) how many of the 30 hashes both texts share."""
        sketches = self._seen.sketches()
        counts = np.empty(pairs.size, np.uint8)
        for start in range(0, pairs.size, _PAIRS_AT_ONCE):
            part = slice(start, start + _PAIRS_AT_ONCE)
            firsts, seconds = _unpacked(pairs[part])
            counts[part] = (sketches[firsts] == sketches[seconds]).sum(axis=1)
        return counts

    def _alike(self, pairs: U64) -> U64:
        return pairs[self._agreement(pairs) >= _LEAST_AGREEMENT]

    def _best(self, pairs: U64) -> U64:
        """The most similar of `pairs` when there are too many, as with templates."""
        if pairs.size <= _MOST_SIMILAR:
            return pairs
        agreement = self._agreement(pairs)
        best = np.argsort(agreement, kind="stable")[-_MOST_SIMILAR:]
        return np.sort(pairs[best])

    def _groups(self, pairs: list[tuple[int, int]]) -> Iterator[list[tuple[int, int]]]:
        """`pairs` in groups for which few rows are held at once."""
        group: list[tuple[int, int]] = []
        held: set[int] = set()
        size = 0
        for pair in pairs:
            group.append(pair)
            for at in pair:
                if at not in held:
                    held.add(at)
                    size += self._seen.size[at]
            if len(held) >= _ROWS_AT_ONCE or size >= _CHARACTERS_AT_ONCE:
                yield group
                group, held, size = [], set(), 0
        if group:
            yield group
