"""Reads one row of JSON digit for digit, or says in plain words what is wrong in it.

Stricter than `json`: a key may stand once, NaN and Infinity are refused, nesting is
bounded. `null`, "" and an absent key stay three different things.
"""

from __future__ import annotations

import json
import re

from assay.data.exact import NotFiniteError, parse_float, parse_int, refuse_constant
from assay.data.jsonx import JSON, JSONObject
from assay.data.records import Problem

_LINE_END = re.compile(r"\r\n|\r|\n")


class _RepeatedKeyError(Exception):
    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


def _object(pairs: list[tuple[str, JSON]]) -> JSONObject:
    value = dict(pairs)
    if len(value) < len(pairs):
        seen: set[str] = set()
        for key, _item in pairs:
            if key in seen:
                raise _RepeatedKeyError(key)
            seen.add(key)
    return value


_DECODER = json.JSONDecoder(
    parse_float=parse_float,
    parse_int=parse_int,
    parse_constant=refuse_constant,
    object_pairs_hook=_object,
)


def decode(text: str, line: int, depth: int) -> JSON | Problem:
    """The value written in `text`, which begins in `line`."""
    is_several = _LINE_END.search(text) is not None
    subject = f"The object in line {line:,}" if is_several else f"Line {line:,}"
    try:
        value: JSON = _DECODER.decode(text)
    except _RepeatedKeyError as error:
        message = f"{subject} has the key {quoted(error.key)} twice."
        return Problem("duplicate_key", message, line=line)
    except NotFiniteError as error:
        message = f"{subject} holds {str(error)[:40]}, which is not a JSON number."
        return Problem("not_finite", message, line=line)
    except json.JSONDecodeError as error:
        return _explained(error, text, line)
    except RecursionError:
        return _too_deep(subject, line, depth)
    except ValueError:
        message = f"{subject} holds a whole number with too many digits."
        return Problem("huge_number", message, line=line)
    if _is_too_deep(value, text, depth):
        return _too_deep(subject, line, depth)
    return value


def value_in(cell: str, depth: int) -> JSON:
    """The object or list that `cell` holds, or `cell` itself when it is no JSON."""
    if not cell.lstrip().startswith(("{", "[")):
        return cell
    value = decode(cell.strip(" \t\r\n"), 1, depth)
    return cell if isinstance(value, Problem) else value


def _explained(error: json.JSONDecodeError, text: str, line: int) -> Problem:
    """The problem, placed where an editor shows it."""
    ends = [end.end() for end in _LINE_END.finditer(text, 0, error.pos)]
    line += len(ends)
    start = ends[-1] if ends else 0
    code, reason = explain(error, text, f"at character {error.pos - start + 1:,}")
    return Problem(code, f"Line {line:,} is not valid JSON: {reason}", line=line)


def explain(error: json.JSONDecodeError, text: str, place: str) -> tuple[str, str]:
    """A code and a sentence for what the parser stumbled over."""
    at, message, rest = error.pos, error.msg, text[error.pos :]
    if message == "Extra data":
        if rest.strip() == ",":
            return "trailing_comma", "it ends with a comma."
        return "extra_data", f"something follows the object {place}."
    by_text = _explain_by_text(rest, place)
    if by_text and not message.startswith(("Unterminated", "Invalid")):
        return by_text
    if message == "Expecting ',' delimiter":
        return "missing_comma", _missing_comma(text, at, place)
    for beginning, code, sentence in SENTENCES:
        if message.startswith(beginning):
            return code, sentence.format(place=place)
    if at == 0:
        return "not_json", "it does not begin with {."
    return "not_json", f"a value is missing {place}."


SENTENCES = [
    (
        "Unterminated string",
        "open_string",
        "the text that begins {place} has no closing quotation mark on this line. "
        "A line break inside a text is written as \\n.",
    ),
    (
        "Expecting property name",
        "property_name",
        "a key in double quotes is missing {place}.",
    ),
    (
        "Illegal trailing comma",
        "property_name",
        "a comma {place} is followed by nothing.",
    ),
    ("Expecting ':' delimiter", "missing_colon", "a colon is missing {place}."),
    (
        "Invalid control character",
        "control_character",
        "there is a control character inside a text {place}. "
        "Tabs and line breaks are written as \\t and \\n.",
    ),
    ("Invalid \\", "bad_escape", "the backslash {place} begins no known escape."),
]
"""How the parser's messages begin, and what people are told."""


def _explain_by_text(rest: str, place: str) -> tuple[str, str] | None:
    if rest.startswith("'"):
        return "single_quotes", "texts stand in single quotes, not in double quotes."
    if found := re.match(r"(None|True|False)\b", rest):
        return "python_literal", f"{found[0]} {place} is Python, not JSON."
    if not rest.strip():
        return "cut_off", "it ends too early. The file may be cut off."
    return None


def _missing_comma(text: str, at: int, place: str) -> str:
    start = max(0, at - 2000)
    before = re.search(r'"([^"\\]{1,40})"\s*:\s*"(?:[^"\\]|\\.)*"?\s*$', text[start:at])
    if before and text[at : at + 1] not in ('"', "{", "["):
        return f"a quotation mark is missing or not escaped in {quoted(before[1])}."
    return f"a comma or a quotation mark is missing {place}."


def _is_too_deep(value: JSON, text: str, limit: int) -> bool:
    if text.count("[") + text.count("{") <= limit:
        return False
    stack: list[tuple[JSON, int]] = [(value, 1)]
    while stack:
        current, depth = stack.pop()
        if isinstance(current, dict):
            children = list(current.values())
        elif isinstance(current, list):
            children = current
        else:
            continue
        if depth > limit:
            return True
        stack.extend((child, depth + 1) for child in children)
    return False


def _too_deep(subject: str, line: int, limit: int) -> Problem:
    message = f"{subject} is nested deeper than {limit} levels."
    return Problem("too_deep", message, line=line)


def quoted(text: str) -> str:
    """`text` between quotation marks, short and without what cannot be shown."""
    shown = text if len(text) <= 40 else text[:39] + "…"
    return '"' + "".join(c if c.isprintable() else "\ufffd" for c in shown) + '"'
