"""Reading JSON as models write it, without ever evaluating anything.

Beyond JSON these are read: single quotes, Python's True, False and None, trailing
commas, raw line breaks inside strings. A key given twice with different values is
refused, and NaN is kept as a value that no scale accepts.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from assay.data.jsonx import JSON

MAX_DEPTH = 40

_BLANKS = re.compile(r"\s*")
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w.])")
_WORD = re.compile(r"-?[A-Za-z]+")
_WORDS: dict[str, JSON] = {
    "true": True,
    "True": True,
    "false": False,
    "False": False,
    "null": None,
    "None": None,
    "NaN": float("nan"),
    "Infinity": float("inf"),
    "-Infinity": float("-inf"),
}
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_SURROGATE_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_STRING_END = {
    quote: re.compile(rf"[^{quote}\\]*(?:\\.[^{quote}\\]*)*{quote}", re.DOTALL)
    for quote in "\"'"
}
_MAX_DIGITS = 300


class NotLiteral(ValueError):
    """The text at this place is not a value that can be read."""


@dataclass(slots=True)
class _Reader:
    text: str
    at: int
    depth: int = 0

    def value(self) -> JSON:
        self.skip()
        char = self.text[self.at : self.at + 1]
        if char == "{":
            return self.nested(self.members)
        if char == "[":
            return self.nested(self.items)
        if char in _STRING_END:
            return self.string()
        return self.number() if char in "+-.0123456789" and char else self.word()

    def nested(self, read: Callable[[], JSON]) -> JSON:
        if self.depth >= MAX_DEPTH:
            raise NotLiteral
        self.depth += 1
        self.at += 1
        result = read()
        self.depth -= 1
        return result

    def members(self) -> JSON:
        found: dict[str, JSON] = {}
        while not self.closes("}"):
            self.skip()
            if self.text[self.at : self.at + 1] not in _STRING_END or self.ended():
                raise NotLiteral
            key = self.string()
            self.expect(":")
            value = self.value()
            if key in found and found[key] != value:
                raise NotLiteral
            found[key] = value
            self.comma_before("}")
        return found

    def items(self) -> JSON:
        found: list[JSON] = []
        while not self.closes("]"):
            found.append(self.value())
            self.comma_before("]")
        return found

    def string(self) -> str:
        end = _STRING_END[self.text[self.at]].match(self.text, self.at + 1)
        if end is None:
            raise NotLiteral
        body, self.at = end.group()[:-1], end.end()
        return _unescaped(body) if "\\" in body else body

    def number(self) -> JSON:
        match = _NUMBER.match(self.text, self.at)
        if match is None or len(match.group()) > _MAX_DIGITS:
            return self.word()
        self.at = match.end()
        digits = match.group()
        return float(digits) if re.search(r"[.eE]", digits) else int(digits)

    def word(self) -> JSON:
        match = _WORD.match(self.text, self.at)
        if match is None or match.group() not in _WORDS:
            raise NotLiteral
        self.at = match.end()
        return _WORDS[match.group()]

    def skip(self) -> None:
        match = _BLANKS.match(self.text, self.at)
        assert match is not None
        self.at = match.end()

    def ended(self) -> bool:
        return self.at >= len(self.text)

    def closes(self, bracket: str) -> bool:
        self.skip()
        if self.text.startswith(bracket, self.at):
            self.at += 1
            return True
        return False

    def expect(self, char: str) -> None:
        if not self.closes(char):
            raise NotLiteral

    def comma_before(self, bracket: str) -> None:
        self.skip()
        if not self.text.startswith(bracket, self.at):
            self.expect(",")


def _unescaped(body: str) -> str:
    def replace(match: re.Match[str]) -> str:
        code = match.group(1)
        if code[0] == "u" and len(code) > 1:
            return chr(int(code[1:], 16))
        return _ESCAPED.get(code, code)

    text = _ESCAPE.sub(replace, body)
    return _SURROGATE_PAIR.sub(
        lambda pair: pair.group().encode("utf-16", "surrogatepass").decode("utf-16"),
        text,
    )


def read_value(text: str, at: int = 0) -> tuple[JSON, int]:
    """The value that begins at `at`, and where it ends. Raises `NotLiteral`."""
    reader = _Reader(text, at)
    value = reader.value()
    return value, reader.at
