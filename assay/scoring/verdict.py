"""One parser for all judges that give one score: from an answer to a verdict.

A verdict is read or refused, never guessed: nothing is clamped, rounded or converted
from another scale, and two different scores are none.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from assay.data.chat import ChatReply
from assay.data.jsonx import JSON, JSONObject
from assay.data.messages import compact
from assay.scoring.answers import Answer, Invalid, read_answer, simple_key
from assay.scoring.definition import MetricSpec
from assay.scoring.spoken import (
    Spoken,
    bare_scores,
    labelled_scores,
    read_number,
    spoken_reason,
    tagged_scores,
)

SCORE_KEYS = ("score", "rating", "result", "grade", "final_score")
REASON_KEYS = (
    "reason",
    "explanation",
    "justification",
    "rationale",
    "reasoning",
    "comment",
)
_TRUE = frozenset({"true", "yes", "pass", "passed", "1"})
_FALSE = frozenset({"false", "no", "fail", "failed", "0"})
_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Verdict:
    """A score inside the metric's scale, and the judge's reason ("" if it gave none).

    `extra` are the other fields of the judge's object, kept for the reader.
    """

    score: float
    reason: str
    extra: JSONObject


def parse_verdict(reply: ChatReply, metric: MetricSpec) -> Verdict | Invalid:
    """The verdict in `reply` on the scale of `metric`, or why there is none."""
    answer = read_answer(reply)
    if isinstance(answer, Invalid):
        return answer
    verdicts = [
        found
        for item in answer.objects
        if (found := _from_object(item, metric)) is not None
    ]
    if verdicts:
        return _only([*verdicts, *_said_beside(answer, metric)])
    if answer.broken:
        return Invalid("not_json", "The judge's answer holds JSON that cannot be read.")
    if answer.objects:
        return Invalid("no_score", "The judge's answer has no score.")
    return _from_text(answer, metric)


def check_score(value: JSON, metric: MetricSpec) -> float | Invalid:
    """`value` as a score on the scale of `metric`, or what is wrong with it."""
    if metric.kind == "boolean":
        return _check_boolean(value)
    shown = compact(value)[:_SHOWN]
    if value is None:
        return Invalid("no_score", "The score is null.")
    if isinstance(value, str):
        number = read_number(value, metric.maximum)
        return number if isinstance(number, Invalid) else _in_scale(number, metric)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return Invalid("bad_score", f"The score {shown} is not a number.")
    return _in_scale(value, metric)


def _check_boolean(value: JSON) -> float | Invalid:
    if isinstance(value, str):
        word = value.strip().lower()
        value = True if word in _TRUE else False if word in _FALSE else value
    if isinstance(value, (int, float)) and value in (0, 1):
        return float(value)
    shown = compact(value)[:_SHOWN]
    return Invalid("bad_score", f"The score {shown} is neither true nor false.")


def _in_scale(value: float, metric: MetricSpec) -> float | Invalid:
    scale = f"{metric.minimum:g} to {metric.maximum:g}"
    if isinstance(value, float) and not math.isfinite(value):
        return Invalid("bad_score", f"The score {value} is not a number {scale}.")
    if not metric.minimum <= value <= metric.maximum:
        return Invalid("out_of_range", f"The score {value:.12g} is outside {scale}.")
    if metric.kind == "ordinal" and value != int(value):
        sentence = f"The score {value!r} is not a whole number {scale}."
        return Invalid("not_whole", sentence)
    return float(value)


def _from_object(item: JSONObject, metric: MetricSpec) -> Verdict | Invalid | None:
    """The verdict that an object is; None when it has neither score nor reason."""
    fields = {simple_key(key): value for key, value in item.items()}
    if len(fields) < len(item):
        return Invalid("many_scores", "The judge's answer has the same key twice.")
    if len(fields) == 1:
        (inner,) = item.values()
        if isinstance(inner, dict):
            return _from_object(inner, metric)
    key = next((k for k in (*SCORE_KEYS, simple_key(metric.key)) if k in fields), None)
    reason_key = next((k for k in REASON_KEYS if k in fields), None)
    if key is None:
        if reason_key is None:
            return None
        return Invalid("no_score", "The score is missing.")
    score = check_score(fields[key], metric)
    if isinstance(score, Invalid):
        return score
    extra = {k: v for k, v in item.items() if simple_key(k) not in (key, reason_key)}
    reason = fields[reason_key] if reason_key else ""
    return Verdict(score, _reason_text(reason), extra)


def _reason_text(reason: JSON) -> str:
    if isinstance(reason, str):
        return reason.strip()
    return "" if reason is None else compact(reason)


def _only(found: Iterable[Verdict | Invalid]) -> Verdict | Invalid:
    """The one verdict: all must say the same; the last reason is taken."""
    verdicts = list(found)
    good = [v for v in verdicts if isinstance(v, Verdict)]
    if len(good) < len(verdicts):
        return next(v for v in verdicts if isinstance(v, Invalid))
    if len({v.score for v in good}) > 1:
        return _many()
    return next((v for v in reversed(good) if v.reason), good[0])


def _said_beside(answer: Answer, metric: MetricSpec) -> list[Verdict]:
    """Scores labelled in the words around the objects; they must not contradict."""
    found = tagged_scores(answer.text) + labelled_scores(answer.text, metric.maximum)
    values = [_spoken_value(spoken, metric) for spoken in found]
    return [Verdict(v, "", {}) for v in values if not isinstance(v, Invalid)]


def _many() -> Invalid:
    return Invalid("many_scores", "The judge gave more than one score.")


def _from_text(answer: Answer, metric: MetricSpec) -> Verdict | Invalid:
    """A verdict in words: tagged, labelled, boxed, or nothing but the score."""
    text = answer.text
    scores = tagged_scores(text) + labelled_scores(text, metric.maximum)
    scores = scores or bare_scores(text, metric.maximum)
    if not scores:
        return Invalid("no_score", "No score was found in the judge's answer.")
    values = [_spoken_value(spoken, metric) for spoken in scores]
    for value in values:
        if isinstance(value, Invalid):
            return value
    if len(set(values)) > 1:
        return _many()
    (score,) = {value for value in values if not isinstance(value, Invalid)}
    return Verdict(score, spoken_reason(text, scores), {})


def _spoken_value(spoken: Spoken, metric: MetricSpec) -> float | Invalid:
    if isinstance(spoken.value, Invalid):
        return spoken.value
    return check_score(spoken.value, metric)
