"""Sentence splitting by the Punkt method (Kiss and Strunk, 2006), English parameters.

A period ends a sentence unless the word before it is a known abbreviation, an
initial or a number; whether the next word usually begins a sentence decides the
doubtful cases. Behaves as the widely used Python implementation does, because the
reference values of BLEU, GLEU and METEOR depend on it. Meant for ASCII texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from assay.data.tables import read_table

# Flags of the spelling table: how the training texts wrote a word, and where.
BEGIN_UPPER, MIDDLE_UPPER, UNKNOWN_UPPER = 2, 4, 8
BEGIN_LOWER, MIDDLE_LOWER, UNKNOWN_LOWER = 16, 32, 64
ANY_UPPER = BEGIN_UPPER | MIDDLE_UPPER | UNKNOWN_UPPER
ANY_LOWER = BEGIN_LOWER | MIDDLE_LOWER | UNKNOWN_LOWER

_CLOSER = r"[)\";}\]*:@'({\[?!]"
_MULTI = r"(?:-{2,}|\.{2,}|(?:\.\s){2,}\.)"
_WORD = re.compile(
    rf"{_MULTI}|(?=[^(\"`{{\[:;&#*@)}}\]\-,])\S+?"
    rf"(?=\s|$|{_CLOSER}|{_MULTI}|,(?=$|\s|{_CLOSER}|{_MULTI}))|\S"
)
_ENDING = re.compile(rf"[.?!](?=(?P<after>{_CLOSER}|\s+(?P<next>\S+)))")
_REALIGN = re.compile(r"[\"')\]}]+?(?:\s+|(?=--)|$)", re.MULTILINE)
_NUMBER = re.compile(r"^-?[.,]?\d[\d,.-]*\.?$")
_INITIAL = re.compile(r"[^\W\d]\.$")
_ELLIPSIS = re.compile(r"\.\.+$")
_ENDERS = frozenset(".?!")
_NEVER_STARTS = frozenset(";:,.!?")


@dataclass(frozen=True, slots=True)
class Parameters:
    abbreviations: frozenset[str]
    collocations: frozenset[tuple[str, str]]
    starters: frozenset[str]
    spelling: dict[str, int]


@cache
def english() -> Parameters:
    rows: dict[str, list[list[str]]] = {"a": [], "c": [], "s": [], "o": []}
    for line in read_table("punkt_english"):
        code, *fields = line.split("\t")
        rows[code].append(fields)
    return Parameters(
        frozenset(word for (word,) in rows["a"]),
        frozenset((first, second) for first, second in rows["c"]),
        frozenset(word for (word,) in rows["s"]),
        {word: int(flags) for word, flags in rows["o"]},
    )


class _Token:
    """A word with what is known about the period at its end."""

    __slots__ = ("abbreviation", "breaks", "ellipsis", "kind", "text")

    def __init__(self, text: str, params: Parameters) -> None:
        self.text = text
        self.kind = _NUMBER.sub("##number##", text.lower())
        self.breaks = self.abbreviation = self.ellipsis = False
        if text in _ENDERS:
            self.breaks = True
        elif _ELLIPSIS.match(text):
            self.ellipsis = True
        elif text.endswith(".") and not text.endswith(".."):
            stem = text[:-1].lower()
            last = stem.rpartition("-")[2]
            if stem in params.abbreviations or last in params.abbreviations:
                self.abbreviation = True
            else:
                self.breaks = True

    @property
    def without_period(self) -> str:
        kind = self.kind
        return kind[:-1] if len(kind) > 1 and kind.endswith(".") else kind

    @property
    def normal(self) -> str:
        """The kind, without a period that ends a sentence."""
        return self.without_period if self.breaks else self.kind


def split_sentences(text: str) -> list[str]:
    """The sentences of `text`, without the blanks between them."""
    params = english()
    return [text[start:stop] for start, stop in _realigned(text, _spans(text, params))]


def _spans(text: str, params: Parameters) -> Iterator[tuple[int, int]]:
    start = 0
    for match, context in _candidates(text):
        if _breaks_inside(context, params):
            yield start, match.end()
            begins_next = match.start("next")
            start = begins_next if begins_next >= 0 else match.end()
    yield start, len(text.rstrip())


def _candidates(text: str) -> Iterator[tuple[re.Match[str], str]]:
    """The last possible ending of each word, with the words around it."""
    start = stop = 0
    previous: re.Match[str] | None = None
    for match in _ENDING.finditer(text):
        # A mark inside the word of the mark before it replaces that mark.
        next_start = _word_start(text, start, stop, match.start())
        if previous is not None and stop <= next_start:
            yield previous, _context(text, start, stop, previous)
        previous, start, stop = match, next_start, match.start()
    if previous is not None:
        yield previous, _context(text, start, stop, previous)


def _word_start(text: str, start: int, floor: int, stop: int) -> int:
    """Where the word before `stop` begins; `start` if before `floor`."""
    for index in range(stop - 1, floor, -1):
        if text[index].isspace():
            return index + 1
    return start


def _context(text: str, start: int, stop: int, match: re.Match[str]) -> str:
    return text[start:stop] + match.group() + match.group("after")


def _breaks_inside(context: str, params: Parameters) -> bool:
    """Whether a sentence ends before the last word of `context`."""
    words = [w for line in context.split("\n") for w in _WORD.findall(line)]
    tokens = [_Token(word, params) for word in words]
    for first, second in zip(tokens, tokens[1:], strict=False):
        _decide(first, second, params)
    return any(token.breaks for token in tokens[:-1])


def _decide(first: _Token, second: _Token, params: Parameters) -> None:
    """Settle whether the period of `first` ends a sentence, seen the next word."""
    if not first.text.endswith("."):
        return
    kind, following = first.without_period, second.normal
    initial = _INITIAL.match(first.text) is not None
    if (kind, following) in params.collocations:
        first.breaks, first.abbreviation = False, True
        return
    begins = _begins_sentence(second, params)
    if (first.abbreviation or first.ellipsis) and not initial:
        upper = second.text[0].isupper()
        if begins or (upper and following in params.starters):
            first.breaks = True
            return
    if initial or kind == "##number##":
        lower_seen = params.spelling.get(following, 0) & ANY_LOWER
        surname = initial and second.text[0].isupper() and not lower_seen
        if begins is False or (begins is None and surname):
            first.breaks, first.abbreviation = False, True


def _begins_sentence(token: _Token, params: Parameters) -> bool | None:
    """Whether the spelling of a word shows that it begins a sentence; None: unclear."""
    if token.text in _NEVER_STARTS:
        return False
    flags = params.spelling.get(token.normal, 0)
    first = token.text[0]
    if first.isupper() and flags & ANY_LOWER and not flags & MIDDLE_UPPER:
        return True
    if first.islower() and (flags & ANY_UPPER or not flags & BEGIN_LOWER):
        return False
    return None


def _realigned(
    text: str, spans: Iterator[tuple[int, int]]
) -> Iterator[tuple[int, int]]:
    """Move closing quotes and brackets to the sentence that they close."""
    moved = 0
    current = next(spans)
    for following in spans:
        start, stop = current[0] + moved, current[1]
        match = _REALIGN.match(text[slice(*following)])
        if match:
            yield start, following[0] + len(match.group().rstrip())
            moved = match.end()
        else:
            moved = 0
            if start < stop:
                yield start, stop
        current = following
    if current[0] + moved < current[1]:
        yield current[0] + moved, current[1]
