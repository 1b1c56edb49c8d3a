"""Which text encoding a file has: by its mark, by being valid, or by a guess."""

from __future__ import annotations

import codecs
from typing import NamedTuple

from charset_normalizer import from_bytes

MARKS: list[tuple[bytes, str]] = [
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
]
CANDIDATES = [
    *(f"cp125{n}" for n in range(9)),
    *("iso8859_7", "koi8_r", "cp932", "euc_jp", "gb18030", "big5", "cp949"),
]
"""What a guess may be. Rare code pages would win on short texts by chance."""
WESTERN = "cp1252"
JAPANESE = ("cp932", "euc_jp")
CYRILLIC = ("cp1251", "koi8_r")
WIDE = frozenset({"cp932", "euc_jp", "gb18030", "big5", "cp949"})
_SAMPLE = 64 * 1024


class Encoding(NamedTuple):
    """`is_guess` is true when nothing in the file proves the encoding."""

    name: str
    has_mark: bool = False
    is_guess: bool = False


def detect(head: bytes) -> Encoding:
    """The encoding of the text that begins with `head`."""
    for mark, name in MARKS:
        if head.startswith(mark):
            return Encoding(name, has_mark=True)
    wide = _without_mark(head)
    if wide:
        return Encoding(wide)
    if is_utf8(head) or _is_damaged_utf8(head):
        return Encoding("utf-8")
    return Encoding(_guess(head), is_guess=True)


def is_utf8(head: bytes) -> bool:
    """True when `head` is the beginning of valid UTF-8; its end may cut a character."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return False
    return True


def _is_damaged_utf8(head: bytes) -> bool:
    """UTF-8 with a few wrong bytes: reading reports their line instead of guessing."""
    text = decode_head(head, "utf-8")
    wrong = text.count("\ufffd")
    right = sum(character > "\x7f" for character in text) - wrong
    return right > 4 * wrong


def decode_head(head: bytes, name: str) -> str:
    """The text of `head`; what is broken or cut off is replaced."""
    try:
        return codecs.getincrementaldecoder(name)("replace").decode(head)
    except UnicodeError:  # UTF-16 and UTF-32 without their mark; reading says so
        return "\ufffd"


def _without_mark(head: bytes) -> str | None:
    """UTF-16 and UTF-32 of mostly Latin text show themselves by their zero bytes."""
    sample = head[: len(head) // 4 * 4][:4096]
    if not sample:
        return None
    share = [sample[i::4].count(0) / (len(sample) // 4) for i in range(4)]
    zero = [value > 0.7 for value in share]
    patterns = {
        (False, True, True, True): "utf-32-le",
        (True, True, True, False): "utf-32-be",
        (False, True, False, True): "utf-16-le",
        (True, False, True, False): "utf-16-be",
    }
    return patterns.get((zero[0], zero[1], zero[2], zero[3]))


def _guess(head: bytes) -> str:
    """The likeliest legacy encoding; Western European when others fit as well."""
    sample = _around_high_bytes(head)
    for japanese in JAPANESE:
        if _has_kana(sample, japanese):
            return japanese
    matches = list(from_bytes(sample, cp_isolation=CANDIDATES))
    if not matches:
        return WESTERN
    best = matches[0]
    if best.coherence == 0 and not (best.encoding in WIDE and _is_dense(sample)):
        return WESTERN
    for match in matches:
        names = {match.encoding, *match.could_be_from_charset}
        close = match.chaos <= best.chaos + 0.1
        if WESTERN in names and close and match.coherence >= best.coherence - 0.05:
            return WESTERN
    name: str = best.encoding
    return max(CYRILLIC, key=lambda n: _lowers(sample, n)) if name in CYRILLIC else name


def _lowers(sample: bytes, name: str) -> int:
    """Small letters. The two Cyrillic encodings swap small and capital letters."""
    return sum(c.islower() for c in decode_head(sample, name) if c > "\x7f")


def _has_kana(sample: bytes, name: str) -> bool:
    """True when a good part of the text is hiragana and katakana."""
    text = [c for c in decode_head(sample, name) if c > "\x7f"]
    kana = sum("\u3040" <= c <= "\u30ff" for c in text)
    return len(text) >= 10 and "\ufffd" not in text and kana > 0.2 * len(text)


def _is_dense(sample: bytes) -> bool:
    """Text of a script that needs two bytes for a character has many high bytes."""
    high = sum(byte > 127 for byte in sample)
    return high >= 20 and high > len(sample) // 4


def _around_high_bytes(head: bytes) -> bytes:
    """A sample that contains text outside ASCII: only that text tells."""
    first = next((i for i, byte in enumerate(head) if byte > 127), 0)
    start = head.rfind(b"\n", 0, first) + 1
    return head[start : start + _SAMPLE]
