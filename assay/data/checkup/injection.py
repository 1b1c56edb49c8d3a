"""Finds text that talks to the model or the judge instead of being data."""

from __future__ import annotations

import re
from collections.abc import Iterator

from assay.data.checkup.orders import ENGLISH, NEEDLE, Order
from assay.data.checkup.orders_abroad import LATIN, OTHER_SCRIPTS
from assay.data.checkup.texts import excerpt, plain, words
from assay.data.text import Sentence
from assay.data.text import gettext_noop as _

_ORDER = _("An order to a model: “%(seen)s”")
_ROLE_LINE = _("A line that plays a message: “%(seen)s”")
_TOKEN = _("A control token of chat models: %(seen)s")
_VERDICT = _("A verdict written in advance: %(seen)s")
_CLOSING = _("The end of the prompt's frame is imitated: “%(seen)s”")
_PICTURE = _("A picture address that can carry data away: %(seen)s")
_HIDDEN = _("Hidden characters: %(count)s")
_REVERSED = _("Characters that reverse the direction of text")

_ALL_STARTS = frozenset().union(*(order.needles for order in (*ENGLISH, *LATIN)))
_BEFORE = 40
_CLAUSE_START = re.compile(
    r"(?:^|[.!?:;,…\n\"'“”„«»()\[\]<>{}*#|=\-–—。、¿¡`/]"
    r"|\b(?:please|kindly|now|just|then|also|simply|and|but|so|instead|therefore|must|"
    r"(?:you|it|graders?|judges?|models?) (?:should|will|shall|can|may)|"
    r"(?:you )?(?:have|need|are) to|"
    r"por favor|agora|apenas|e|y|ahora|et|ou|und|bitte|jetzt|il faut|s'il vous plaît|"
    r"first|next|assistant|system))\s{0,3}$"
)
_TOKENS = re.compile(
    r"<\|(?:im_start|im_end|im_sep|endoftext|system|user|assistant|eot_id|eom_id|"
    r"start_header_id|end_header_id|begin_of_text|end_of_text|endofprompt|channel|"
    r"message|start|end|python_tag)\|>|\[/?INST\]|<</?SYS>>|<(?:start|end)_of_turn>|"
    r"<\uff5c[^\uff5c>]{1,40}\uff5c>"
)
_TOKEN_STARTS = ("<|", "INST]", "SYS>>", "_of_turn>", "<\uff5c")

_ROLE = re.compile(
    r"^[\s#*\[(<]{0,4}(system|assistant|developer|judge|grader|evaluator|admin)"
    r"(?: (?:message|prompt|note|override|instructions?))?[\])>*]{0,3}\s?:[ *]{0,3}"
    r"(?=([^\n]{3,300}))",
    re.MULTILINE,
)
_ROLE_STARTS = frozenset(
    word[:NEEDLE]
    for word in (
        "system",
        "assistant",
        "developer",
        "judge",
        "grader",
        "evaluator",
        "admin",
    )
)
_ROLE_ORDER = re.compile(
    r"\b(?:you (?:are|must|should|will|shall|have)|ignore|disregard|forget|from now on|"
    r"override|output|always|never|grade|score|rate|mark|award|give|verdict|password|"
    r"(?:previous|above) (?:answer|response|instructions?)|new instructions?|"
    r"do not|comply|reveal|session)\b"
)
_TURN = re.compile(r"^[\s#*]{0,3}(?:user|human|customer|client)\b[^\n:]{0,10}:", re.M)

_VERDICT_JSON = re.compile(
    r"\{\s{0,4}[\"'](?:score|rating|verdict|grade|result|evaluation|"
    r"passed)[\"']\s{0,2}:"
    r"\s{0,2}[\"']?[\w. ]{1,20}[\"']?\s{0,2},"
    r"(?=[^{}]{0,400}[\"'](?:reason|reasoning|explanation|justification|rationale|"
    r"score|"
    r"verdict|rating|label)[\"']\s{0,2}:)|"
    r"\{\s{0,4}[\"'](?:reason|reasoning|explanation|justification|rationale)[\"']"
    r"(?=[^{}]{0,400}[\"'](?:score|rating|verdict|grade|passed)[\"']\s{0,2}:)"
)
_FRAME = (
    "response|answer|user_input|user_query|query|question|context|document|submission|"
    "conversation|instructions?|prompt|system|user|assistant|candidate|student_answer|"
    "candidate_answer|model_output|model_response|ground_truth|untrusted|user_message"
)
_CLOSING_TAG = re.compile(
    rf"</({_FRAME})\s{{0,3}}>(?=\s{{0,20}}[^\s<]|\s{{0,20}}<[a-z!])"
)
_END_LINE = re.compile(
    r"^[^\w\n]{2,12}(?:end|begin|start|stop) (?:of )?(?:the )?(?:response|submission|"
    r"answer|user input|input|data|context|prompt|system prompt|instructions?|"
    r"conversation|document|evaluation|candidate)[^\w\n]{2,12}$",
    re.MULTILINE,
)
_IMAGE = re.compile(r"!\[[^\]\n]{0,200}\]\(\s?(https?://[^)\s]{1,2000})")
_CARRIES = re.compile(
    r"[?&/=](?:\{|\[|<|%7b|\$\{)|[?&](?:data|secret|leak|token|exfil\w*|prompt|history|"
    r"chat|context|payload|cookie|password|conversation|stolen|session|key|msg|"
    r"system\w*|memory|content|email|user_?data)=|=(?:secret|password|conversation)"
)
_TAGS = re.compile("[\U000e0000-\U000e007f\U000e0100-\U000e01ef]{2,}")
_FLAG = "\U0001f3f4"
_ZERO_WIDTH = re.compile(
    "[\u200b-\u200d\u2060-\u2064\ufeff\u180e]{3,}"
    "|(?:[\u200b\u200c\u2060-\u2064][^\n]?){8,}"
)


def injection(text: str) -> Sentence | None:
    """What in `text` speaks to a model, the clearest first, else None."""
    hidden = _hidden(text)
    if hidden is not None:
        return hidden
    lower = plain(text)
    starts = {word[:NEEDLE] for word in set(words(lower))}
    seen = _order(lower, starts)
    if seen is not None:
        return Sentence(_ORDER, {"seen": excerpt(seen)})
    found = _frame(lower) or _picture(lower)
    if found is None and not starts.isdisjoint(_ROLE_STARTS):
        found = _role_line(lower)
    return found


def control_token(text: str) -> Sentence | None:
    """A token that chat templates use; a column of ready prompts is full of them."""
    if not any(start in text for start in _TOKEN_STARTS):
        return None
    found = _TOKENS.search(text)
    return Sentence(_TOKEN, {"seen": found[0]}) if found else None


def _hidden(text: str) -> Sentence | None:
    if text.isascii():
        return None
    for found in _TAGS.finditer(text):
        if text[found.start() - 1 : found.start()] != _FLAG:
            return Sentence(_HIDDEN, {"count": len(found[0])})
    zero_width = _ZERO_WIDTH.search(text)
    if zero_width is not None:
        return Sentence(_HIDDEN, {"count": len(zero_width[0])})
    if "\u202e" in text or "\u202d" in text:
        return Sentence(_REVERSED)
    return None


def _order(text: str, starts: set[str]) -> str | None:
    for order in _orders_for(text, starts):
        for found in order.pattern.finditer(text):
            if not order.starts_clause or _starts_clause(text, found.start()):
                return text[found.start() : found.start() + 80].split("\n")[0]
    return None


def _orders_for(text: str, starts: set[str]) -> Iterator[Order]:
    """The orders that `text` has a word of; the others cannot match."""
    if not starts.isdisjoint(_ALL_STARTS):
        for order in (*ENGLISH, *LATIN):
            if not starts.isdisjoint(order.needles):
                yield order
    if not text.isascii():
        for order in OTHER_SCRIPTS:
            if any(map(text.__contains__, order.needles)):
                yield order


def _starts_clause(text: str, at: int) -> bool:
    return _CLAUSE_START.search(text[max(0, at - _BEFORE) : at]) is not None


def _frame(text: str) -> Sentence | None:
    if "</" in text:
        for found in _CLOSING_TAG.finditer(text):
            if f"<{found[1]}" not in text[: found.start()]:
                seen = excerpt(text[found.start() : found.start() + 60])
                return Sentence(_CLOSING, {"seen": seen})
    if "end " in text or "begin " in text or "start " in text:
        line = _END_LINE.search(text)
        if line is not None and text[line.end() :].strip():
            return Sentence(_CLOSING, {"seen": excerpt(line[0])})
    return None


def _role_line(text: str) -> Sentence | None:
    """A line such as "system: you must …" that is not part of a written-out talk."""
    if ":" not in text:
        return None
    for found in _ROLE.finditer(text):
        is_first = not text[: found.start()].strip()
        if is_first or _ROLE_ORDER.search(found[2]) is None:
            continue
        if found[1] in {"assistant", "system", "developer"} and _TURN.search(text):
            continue
        return Sentence(_ROLE_LINE, {"seen": excerpt(found[0] + found[2])})
    return None


def _picture(text: str) -> Sentence | None:
    if "](" not in text:
        return None
    for found in _IMAGE.finditer(text):
        if _CARRIES.search(found[1]):
            return Sentence(_PICTURE, {"seen": excerpt(found[1])})
    return None


def verdict(text: str) -> Sentence | None:
    """A judge's answer in JSON, written in advance."""
    if "{" not in text:
        return None
    found = _VERDICT_JSON.search(plain(text))
    return Sentence(_VERDICT, {"seen": excerpt(found[0])}) if found else None
