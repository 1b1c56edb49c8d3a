"""Words by the conventions of the Penn Treebank: "don't" gives do and n't.

Quotes become `` and '', punctuation stands alone, and only the period at the end of
a sentence leaves its word. The rules and their order are those of the Treebank's
published tokenisation, extended as the common Python implementation does. For ASCII
texts, one sentence at a time.
"""

from __future__ import annotations

import re

# (pattern, replacement); the order matters, later rules see earlier spaces.
_OPENING = (
    (re.compile(r"(`+)"), r" \1 "),
    (re.compile(r'^"'), "``"),
    (re.compile(r"(``)"), r" \1 "),
    (re.compile(r"([ (\[{<])(?:\"|'')"), r"\1 `` "),
    (re.compile(r"(?<!\w)'(?!(?:re|ve|ll|[mtsdn])\b)(?=\w)", re.IGNORECASE), "' "),
)
_MIDDLE = (
    (re.compile(r"([:,])(\D)"), r" \1 \2"),
    (re.compile(r"([:,])$"), r" \1 "),
    (re.compile(r"(\.{2,})"), r" \1 "),
    (re.compile(r"([;@#$%&])"), r" \1 "),
)
_LATE = (
    (re.compile(r"([?!])"), r" \1 "),
    (re.compile(r"([^'])'\s"), r"\1 ' "),
    (re.compile(r"(\*)"), r" \1 "),
    (re.compile(r"([\]\[(){}<>])"), r" \1 "),
    (re.compile(r"--"), " -- "),
)
_CLOSING = (
    (re.compile(r"''"), " '' "),
    (re.compile(r'"'), " '' "),
    (re.compile(r"\s+"), " "),
    (re.compile(r"([^' ])('[sSmMdD]|') "), r"\1 \2 "),
    (re.compile(r"([^' ])('ll|'LL|'re|'RE|'ve|'VE|n't|N'T) "), r"\1 \2 "),
)
_JOINED = (
    re.compile(
        r"\b(?:(can)(not)|(d)('ye)|(gim)(me)|(gon)(na)|(got)(ta)|(lem)(me)|(more)('n))\b",
        re.IGNORECASE,
    ),
    re.compile(r"\b(wan)(na)(?=\s)", re.IGNORECASE),
    re.compile(r" ('t)(is|was)\b", re.IGNORECASE),
)
_PERIOD_FOLLOWERS = frozenset("])}>\"' ")


def split_words(sentence: str) -> list[str]:
    """The words of one sentence."""
    text = _apply(_OPENING, sentence)
    text = _part_final_period(text)
    text = _apply(_MIDDLE, text)
    text = _part_final_period(text)
    text = f" {_apply(_LATE, text)} "
    text = _apply(_CLOSING, text)
    for pattern in _JOINED:
        text = pattern.sub(_two_words, text)
    return text.split()


def _apply(rules: tuple[tuple[re.Pattern[str], str], ...], text: str) -> str:
    for pattern, replacement in rules:
        text = pattern.sub(replacement, text)
    return text


def _two_words(match: re.Match[str]) -> str:
    first, second = (group for group in match.groups() if group)
    return f" {first} {second} "


def _part_final_period(text: str) -> str:
    """Space out the last period when only quotes, brackets and blanks follow it.

    Walks from the end instead of searching with a pattern, which would take time
    quadratic in a run of blanks.
    """
    end = len(text.rstrip())
    index = end - 1
    while index >= 0 and text[index] in _PERIOD_FOLLOWERS:
        index -= 1
    if index < 1 or text[index] != "." or text[index - 1] == ".":
        return text
    return f"{text[:index]} . {text[index + 1 : end]} "
