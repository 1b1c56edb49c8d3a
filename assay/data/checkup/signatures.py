"""Short signatures of rows, from which equal and nearly equal rows are found.

A row costs about 100 bytes. Its text is seen as the set of its runs of four
characters. MinHash keeps the smallest of 30 hashes of that set; texts that share three
of them in one of ten bands (J = 0.65: 96%, J = 0.3: 24%) and agree in as many of them
as similar texts do are worth comparing.
MinHash: Broder, "On the resemblance and containment of documents", 1997.
"""

from __future__ import annotations

import hashlib
from array import array
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

BANDS = 10
_ROWS_PER_BAND = 3
_HASHES = BANDS * _ROWS_PER_BAND
_MOST_RUNS = 512
_LEAST_CHARACTERS = 12
_LEAST_UNSPACED = 8

U64 = npt.NDArray[np.uint64]
U32 = npt.NDArray[np.uint32]
U8 = npt.NDArray[np.uint8]

_RANDOM = np.random.default_rng(20240229)
_FACTORS: U64 = _RANDOM.integers(1, 2**63, (_HASHES, 1), dtype=np.uint64) | np.uint64(1)
_RUN_FACTORS: U64 = _RANDOM.integers(1, 2**63, 4, dtype=np.uint64) | np.uint64(1)
_BAND_FACTORS: U64 = _RANDOM.integers(1, 2**63, (1, _ROWS_PER_BAND), dtype=np.uint64)
_BAND_FACTORS |= np.uint64(1)
_MIX = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)
_NO_BANDS = bytes(4 * BANDS)
_NO_SKETCH = bytes(_HASHES)


class Signature(NamedTuple):
    """`bands`: (BANDS,) keys. `sketch`: (30,) a byte of each smallest hash."""

    bands: U32
    sketch: U8


def digest(text: str) -> int:
    """64 bits, never 0; the same in every process."""
    data = text.encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "big") or 1


def signature(folded: str, salt: int) -> Signature | None:
    """Of a text without blanks, or None when it is too short.

    Texts with different `salt` never share a key (but for chance, 1 in 2³²).
    """
    least = _LEAST_CHARACTERS if folded.isascii() else _LEAST_UNSPACED
    if len(folded) < least:
        return None
    codes = np.frombuffer(folded.encode("utf-32-le", "surrogatepass"), np.uint32)
    code = codes.astype(np.uint64)
    a, b, c, d = _RUN_FACTORS
    runs = code[:-3] * a + code[1:-2] * b + code[2:-1] * c + code[3:] * d
    runs ^= runs >> _HALF
    runs *= _MIX
    runs = _thinned(runs)
    lowest = ((runs[np.newaxis, :] * _FACTORS) >> _HALF).min(axis=1)
    mixed = (lowest.reshape(BANDS, _ROWS_PER_BAND) * _BAND_FACTORS).sum(axis=1)
    mixed ^= np.uint64(salt)
    mixed *= _MIX
    return Signature((mixed >> _HALF).astype(np.uint32), lowest.astype(np.uint8))


def _thinned(runs: U64) -> U64:
    """At most about 512 of `runs`, the same ones in every text that has them."""
    share = 1
    while runs.size > _MOST_RUNS * share:
        share *= 2
    if share == 1:
        return runs
    kept = runs[(runs >> np.uint64(40)) % np.uint64(share) == 0]
    return kept if kept.size else runs[:_MOST_RUNS]


@dataclass(slots=True)
class Signatures:
    """What is remembered of each row, in the order in which rows were added."""

    row: array[int] = field(default_factory=lambda: array("I"))
    size: array[int] = field(default_factory=lambda: array("I"))
    whole: array[int] = field(default_factory=lambda: array("Q"))
    folded: array[int] = field(default_factory=lambda: array("Q"))
    answer: array[int] = field(default_factory=lambda: array("Q"))
    _bands: array[int] = field(default_factory=lambda: array("I"))
    _sketches: bytearray = field(default_factory=bytearray)

    def add(
        self, row: int, size: int, keys: tuple[int, int, int], seen: Signature | None
    ) -> None:
        """`size` in characters. `keys`: whole, folded, answer; 0: there is none."""
        self.row.append(row)
        self.size.append(min(size, 2**31))
        for column, key in zip(
            (self.whole, self.folded, self.answer), keys, strict=True
        ):
            column.append(key)
        self._bands.frombytes(_NO_BANDS if seen is None else seen.bands.tobytes())
        self._sketches += _NO_SKETCH if seen is None else seen.sketch.tobytes()

    def band(self, number: int) -> U32:
        """(rows,) keys of one band; 0: the row has none."""
        table = np.frombuffer(self._bands, np.uint32).reshape(-1, BANDS)
        return np.ascontiguousarray(table[:, number])

    def sketches(self) -> U8:
        """(rows, 30)"""
        return np.frombuffer(self._sketches, np.uint8).reshape(-1, _HASHES)

    def column(self, values: array[int]) -> U64:
        return np.frombuffer(values, np.uint64)
