"""The simulated model as judge by a rubric, and as its author.

Plausible and worth nothing as a measurement: scores follow the overlap of words,
dimensions repeat sentences of the material.
"""

from __future__ import annotations

import hashlib
import re
from typing import Any

import orjson

from targets.overlap import REMARKS, verdict, with_turns, words

_LISTED = re.compile(r"(?:^|\n\n)id: (\w+)(?: \(([^)\n]*)\))?\n")
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+")
_EARLIER = re.compile(r"(?:^|\n\n)(\w+): (.+?)(?=\n\n\w+: |\Z)", re.DOTALL)
_MARKUP = re.compile(r"^[\s#>*\-+\d.)]+|[*`_#|]+")
ALWAYS = "always applies"
SELDOM = 9
"""A dimension without that mark does not apply to one in so many answers."""
FEWEST, MOST = 4, 6
WEIGHTS = (9, 6, 5, 4, 3, 2)
_HELPERS = frozenset(
    re.findall(
        r"\w+",
        "not no never always must should shall may only any all each every if when "
        "then than there their them from into about until before after more most less "
        "please us me him her what which who how also so but be been being say says "
        "ask asks use make sure etc e g one two assistant agent",
    )
)
_SPARE = (
    ("answer_relevance", "Answers what was asked and leaves out what was not."),
    ("clear_language", "Says things in short sentences that cannot be misread."),
    ("honest_limits", "Says so when something is not known or cannot be done."),
    ("polite_tone", "Stays friendly, also when a wish cannot be met."),
)
"""What is asked of any assistant, for material with too few sentences."""


def answer(
    system: str, inputs: dict[str, str], schema: dict[str, Any]
) -> dict[str, Any] | None:
    """The answer to a request about a rubric; None when it is about something else.

    `schema` is the JSON Schema that came along, {} without one: then the system text
    shows what is wanted.
    """
    asked = schema.get("properties") or {}
    if "dimension_scores" in asked or (not asked and '"dimension_scores"' in system):
        return judged(system, inputs, asked.get("dimension_scores") or {})
    if "dimensions" in asked or (not asked and '{"dimensions"' in system):
        entry = _entry(asked.get("dimensions") or {})
        is_safety = "allowed" in entry if entry else '"allowed"' in system
        return written(inputs, is_safety=is_safety)
    return None


def judged(
    system: str, inputs: dict[str, str], listed: dict[str, Any]
) -> dict[str, Any]:
    """A verdict on each dimension, under the ids of the schema or the system text."""
    marks = dict(_LISTED.findall(system))
    entry = _entry(listed)
    ids = (entry.get("id") or {}).get("enum") or list(marks)
    kinds = (entry.get("score") or {}).get("type") or []
    is_check = "boolean" in kinds or (not entry and '"score" is true' in system)
    base, reason = verdict(with_turns(inputs))
    scores = [
        _score(key, base, inputs, must=ALWAYS in marks.get(key, ""), is_check=is_check)
        for key in ids
    ]
    return {"dimension_scores": scores, "reason": reason}


def _score(
    key: str, base: int, inputs: dict[str, str], *, must: bool, is_check: bool
) -> dict[str, Any]:
    chance = _number(key, *(f"{name}\n{inputs[name]}" for name in sorted(inputs)))
    applies = must or chance % SELDOM != 0
    if not applies:
        reason = "Simulated judgement: the material gives no occasion for this."
        return {"id": key, "reason": reason, "applicable": False, "score": None}
    score = min(5, max(1, base + chance // SELDOM % 3 - 1))
    return {
        "id": key,
        "reason": f"Simulated judgement: {REMARKS[score].lower()}.",
        "applicable": True,
        "score": score >= 3 if is_check else score,
    }


def written(inputs: dict[str, str], *, is_safety: bool) -> dict[str, Any]:
    """Dimensions made of the sentences of the material, under ids of telling words.

    Dimensions of the input `earlier` come first as they are; what is new follows.
    """
    material = "\n".join(text for name, text in inputs.items() if name != "earlier")
    pairs = _EARLIER.findall(inputs.get("earlier", ""))[: MOST - 1]
    known = {key for key, _text in pairs} | {text for _key, text in pairs}
    found = _described(material, MOST + len(pairs))
    pairs += [pair for pair in found if known.isdisjoint(pair)]
    pairs += [pair for pair in _SPARE if pair[0] not in dict(pairs)][
        : max(0, FEWEST - len(pairs))
    ]
    entries: list[dict[str, Any]] = []
    for place, (key, text) in enumerate(pairs[:MOST]):
        entry: dict[str, Any] = {"id": key, "description": text}
        if is_safety:
            entry["allowed"] = place % 3 != 1
        else:
            entry["weight"] = WEIGHTS[place]
        entries.append(entry)
    return {"dimensions": entries}


def _described(material: str, most: int) -> list[tuple[str, str]]:
    """(id, description) of the first sentences that tell something, each id once."""
    found: dict[str, str] = {}
    for sentence in _sentences(material, 200):
        telling = [w for w in words(sentence) if w not in _HELPERS and w.isascii()]
        telling = [word for word in telling if len(word) > 2 and word.isalpha()]
        key = "_".join(sorted(dict.fromkeys(telling), key=telling.index)[:3])
        if key and key not in found:
            found[key[:60]] = sentence
        if len(found) == most:
            break
    return list(found.items())


def _sentences(material: str, most: int) -> list[str]:
    plain = (_MARKUP.sub("", part).strip() for part in _SENTENCE.split(material))
    telling = (part for part in plain if len(part.split()) > 2)
    return [part[:400] for part in dict.fromkeys(telling)][:most]


def _entry(listed: dict[str, Any]) -> dict[str, Any]:
    """The properties of one entry of a list in a schema."""
    found = (listed.get("items") or {}).get("properties") or {}
    return found if isinstance(found, dict) else {}


def _number(*texts: str) -> int:
    joined = orjson.dumps(texts)
    return int.from_bytes(hashlib.sha256(joined).digest()[:6], "big")
