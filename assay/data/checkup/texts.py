"""Texts of a row wherever they stand, and forms in which texts are compared."""

from __future__ import annotations

import json
import re
import unicodedata
from typing import NamedTuple

from assay.data.jsonx import JSON
from assay.data.media import BLOB_KEY
from assay.data.text import storable

_AUTHORS = frozenset({"system", "developer"})
_ENCODED_CHAT = re.compile(r'\s*[\[{].{0,400}"role"', re.DOTALL)
_LONGEST_ENCODED = 1_000_000
# Scripts without blanks between words: each character is a word.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
WORD = re.compile(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+")
_ASCII_WORDS = {code: " " for code in range(128) if not chr(code).isalnum()}
_IS_UNSPACED = re.compile(f"[{_UNSPACED}]")
INVISIBLE = "\u00ad\u180e\u200b-\u200f\u2060-\u2064\ufeff\U000e0000-\U000e0fff"
_INVISIBLE = re.compile(f"[{INVISIBLE}]")
_BLANKS = re.compile(r"[^\S\n]{2,}|[^\S\n ]")
SHOWN = 60


class Text(NamedTuple):
    """`is_authored`: a system message, which the author of the dataset wrote."""

    text: str
    is_authored: bool


def texts(value: JSON) -> list[Text]:
    """All texts inside `value` in their order, media and members' names left out."""
    found: list[Text] = []
    stack: list[tuple[JSON, bool]] = [(value, False)]
    while stack:
        current, is_authored = stack.pop()
        if isinstance(current, str):
            decoded = _decoded(current)
            if decoded is None:
                found.append(Text(current, is_authored))
            else:
                stack.append((decoded, is_authored))
        elif isinstance(current, dict):
            if BLOB_KEY not in current:
                role = current.get("role")
                is_author = isinstance(role, str) and role in _AUTHORS
                inner = is_authored or is_author
                stack.extend((v, inner) for v in reversed(current.values()))
        elif isinstance(current, (list, tuple)):
            stack.extend((v, is_authored) for v in reversed(current))
    return [item for item in found if item.text and not _is_data_address(item.text)]


def _is_data_address(text: str) -> bool:
    """True for a medium that is written out as text."""
    return text.startswith("data:") and ";base64," in text[:100]


def _decoded(text: str) -> JSON:
    """A conversation that a cell holds as JSON text, else None."""
    if len(text) > _LONGEST_ENCODED or not _ENCODED_CHAT.match(text):
        return None
    try:
        value: JSON = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, (dict, list)) else None


def joined(value: JSON) -> str:
    """The texts of `value` in one, without those of system messages."""
    if isinstance(value, str):
        return value if _decoded(value) is None else _joined(value)
    if isinstance(value, bool) or value is None:
        return "" if value is None else str(value).lower()
    if isinstance(value, (int, float)):
        return _number(value)
    return _joined(value)


def _joined(value: JSON) -> str:
    return "\n".join(item.text for item in texts(value) if not item.is_authored)


def _number(value: float) -> str:
    """Digits of `value`; hexadecimal where Python refuses to write it decimally."""
    try:
        return str(value)
    except ValueError:
        return hex(int(value))


def word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


def plain(text: str) -> str:
    """`text` in compatible characters, lower case, without invisible ones.

    Line breaks stay; other runs of blanks become one blank.
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
        text = _INVISIBLE.sub("", text)
    if "  " in text or not text.isascii() or "\t" in text or "\r" in text:
        text = _BLANKS.sub(" ", text)
    return text.casefold()


def words(text: str) -> list[str]:
    """The words of a text that is already plain."""
    if text.isascii():
        return text.translate(_ASCII_WORDS).split()
    return WORD.findall(text)


def is_unspaced(text: str) -> bool:
    """True when `text` holds letters of a script that does not space its words."""
    return not text.isascii() and _IS_UNSPACED.search(text) is not None


def excerpt(text: str) -> str:
    """A short form of `text` that is safe in a sentence."""
    seen = " ".join(_INVISIBLE.sub("", text[: SHOWN * 3]).split())
    seen = storable(seen)
    return seen if len(seen) <= SHOWN else seen[: SHOWN - 1] + "…"
