"""Finding the JSON objects in a judge's answer; shared by all parsers of verdicts.

Thoughts are not the answer. An object that cannot be read hides everything inside
it, so that a piece of a broken verdict never counts as a verdict.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from assay.data.chat import ChatReply
from assay.data.jsonx import JSON, JSONObject
from assay.data.messages import readable
from assay.scoring.literal import NotLiteral, read_value

MAX_LENGTH = 200_000
"""Longer answers are not read: no verdict needs as much."""
MAX_OBJECTS = 50


@dataclass(frozen=True, slots=True)
class Invalid:
    """An answer without a usable verdict. `code` is stable, `sentence` for people."""

    code: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What a judge said once thoughts are taken away.

    `text` is what stands outside of JSON objects, `objects` are the complete ones in
    order. `broken` tells that there is the beginning of another that cannot be read.
    """

    text: str
    objects: tuple[JSONObject, ...] = ()
    broken: bool = False


_INVISIBLE = "\u200b\u200c\u200d\u2060\ufeff"
_THOUGHT = r"think|thinking|thought|thoughts|reasoning|analysis|scratchpad|S0"
_THOUGHT_TAG = re.compile(rf"<(/?)(?:{_THOUGHT})>", re.IGNORECASE)
_FINAL_CHANNEL = re.compile(
    r"^.*<\|channel\|>\s*final\b[^<]*<\|message\|>", re.DOTALL | re.IGNORECASE
)
_CHANNEL = re.compile(r"<\|channel\|>.*?(?:<\|end\|>|$)", re.DOTALL)
_MARKER = re.compile(r"<\|[a-z_]+\|>")
_FENCED = re.compile(r"^```[\w-]*\s*\n?(.*?)\n?\s*```$", re.DOTALL)
_OBJECT_START = re.compile(r"\{(?=\s{0,200}([\"'}])?)")
_BRACE = re.compile(r"[{}]")
_INLINE_CODE = re.compile(r"(?<!`)`(?!`)[^`]*$")


def read_answer(reply: ChatReply) -> Answer | Invalid:
    """The answer in `reply`, or why there is none.

    A refusal, a filtered answer, and one cut off by the token limit are never
    verdicts, whatever text they carry.
    """
    if reply.refusal:
        return Invalid("refused", "The judge refused to answer.")
    if reply.finish_reason == "content_filter":
        return Invalid("filtered", "The content filter blocked the judge's answer.")
    if reply.finish_reason == "length":
        return Invalid("cut", "The judge's answer was cut off by the token limit.")
    raw = reply.text if reply.text and reply.text.strip() else _from_tool(reply)
    raw = raw.strip().strip(_INVISIBLE).strip()
    if not raw:
        return Invalid("empty", "The judge's answer was empty.")
    if len(raw) > MAX_LENGTH:
        return Invalid("too_long", "The judge's answer was too long to read.")
    whole = whole_object(raw)
    if whole is not None:
        return Answer("", (whole,))
    text = without_thoughts(raw)
    if not text:
        return Invalid("empty", "The judge gave thoughts but no answer.")
    whole = whole_object(text)
    if whole is not None:
        return Answer("", (whole,))
    return find_objects(text)


def _from_tool(reply: ChatReply) -> str:
    """The arguments of the one tool call in which some models put their verdict."""
    if len(reply.tool_calls) != 1:
        return ""
    call = reply.tool_calls[0]
    function = call.get("function")
    arguments = (function if isinstance(function, dict) else call).get("arguments")
    return arguments if isinstance(arguments, str) else ""


def without_thoughts(text: str) -> str:
    """`text` without thinking blocks, also half open ones, and channel markers."""
    text = _FINAL_CHANNEL.sub("", text, count=1)
    text = _CHANNEL.sub("", text)
    text = _MARKER.sub("", text)
    return _outside_tags(text).strip().strip(_INVISIBLE).strip()


def _outside_tags(text: str) -> str:
    """What stands outside of thinking tags; a lone closing tag ends a thought."""
    kept: list[str] = []
    inside = False
    at = 0
    for tag in _THOUGHT_TAG.finditer(text):
        closing = bool(tag.group(1))
        if closing and not inside:
            kept = []
        elif not closing and not inside:
            kept.append(text[at : tag.start()])
        inside = not closing
        at = tag.end()
    if not inside:
        kept.append(text[at:])
    return "".join(kept)


def whole_object(text: str) -> JSONObject | None:
    """The object that the whole text is: bare, in a code fence, or as a JSON string."""
    fenced = _FENCED.match(text)
    if fenced and "```" not in fenced.group(1):
        text = fenced.group(1).strip()
    value = _read_all(text)
    if isinstance(value, str):
        value = _read_all(value.strip())
    return _clean_object(value) if isinstance(value, dict) else None


def _read_all(text: str) -> JSON:
    try:
        value, end = read_value(text)
    except NotLiteral:
        return None
    return value if not text[end:].strip().strip(_INVISIBLE) else None


def find_objects(text: str) -> Answer:
    """The complete objects in `text`, outermost ones only.

    Objects quoted between single backticks are left out when others stand free:
    they are what the judge quotes, not what it says.
    """
    free: list[JSONObject] = []
    quoted: list[JSONObject] = []
    outside: list[str] = []
    broken = False
    at = kept = 0
    while len(free) + len(quoted) < MAX_OBJECTS:
        start = _OBJECT_START.search(text, at)
        if start is None:
            break
        try:
            value, at = read_value(text, start.start())
        except NotLiteral:
            at = start.end()
            if start.group(1) in ("'", '"'):
                broken = True
                at = _broken_end(text, start.start())
            continue
        outside.append(text[kept : start.start()])
        kept = at
        if isinstance(value, dict):
            target = quoted if _INLINE_CODE.search(_line_before(text, start)) else free
            target.append(_clean_object(value))
    outside.append(text[kept:])
    return Answer("".join(outside), tuple(free or quoted), broken)


def _line_before(text: str, match: re.Match[str]) -> str:
    return text[text.rfind("\n", 0, match.start()) + 1 : match.start()]


def _broken_end(text: str, start: int) -> int:
    """Where an unreadable object probably ends: by its braces, else with the text."""
    depth = 0
    for brace in _BRACE.finditer(text, start):
        depth += 1 if brace.group() == "{" else -1
        if not depth:
            return brace.end()
    return len(text)


def _clean_object(value: dict[str, JSON]) -> JSONObject:
    """`value` without what cannot be stored: half characters, NaN and infinity."""
    cleaned = _clean(value)
    assert isinstance(cleaned, dict)
    return cleaned


def _clean(value: JSON) -> JSON:
    if isinstance(value, str):
        return readable(value)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {readable(key): _clean(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_clean(item) for item in value]
    return value


def simple_key(key: str) -> str:
    """Keys and ids compared without case, blanks and hyphens."""
    return re.sub(r"[\s\-]+", "_", key.strip().lower())
