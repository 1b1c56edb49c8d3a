"""From a rubric judge's answer to scores of dimensions, or why there are none.

A verdict is read or refused, never guessed: every dimension must be there once, with
a whole score of its scale or the word that it does not apply. What the judge adds
(an overall score, weights, more dimensions) does not count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay.data.chat import ChatReply
from assay.data.jsonx import JSON, JSONObject
from assay.data.messages import compact
from assay.scoring.answers import Answer, Invalid, read_answer, simple_key
from assay.scoring.definition import MetricSpec
from assay.scoring.rubric.score import DimensionScore
from assay.scoring.rubric.spec import HIGHEST, LOWEST, Dimension, RubricSpec
from assay.scoring.verdict import REASON_KEYS, check_score

LIST_KEYS = ("dimension_scores", "dimensions", "scores", "results")
ID_KEYS = ("id", "dimension_id", "dimension", "name")
YES = frozenset({"true", "yes", "applicable", "1"})
NO = frozenset({"false", "no", "not applicable", "not_applicable", "n/a", "0"})
_SHOWN = 60


@dataclass(frozen=True, slots=True)
class RubricVerdict:
    """Scores in the order of the rubric; `ignored` are ids that it does not have."""

    scores: tuple[DimensionScore, ...]
    reason: str
    ignored: tuple[str, ...] = ()


def parse_rubric(reply: ChatReply, spec: RubricSpec) -> RubricVerdict | Invalid:
    """The verdict in `reply` on the dimensions of `spec`, or why there is none."""
    answer = read_answer(reply)
    if isinstance(answer, Invalid):
        return answer
    found = [
        verdict
        for item in answer.objects
        if (verdict := _from_object(item, spec)) is not None
    ]
    if not found:
        return _nothing(answer)
    wrong = next((v for v in found if isinstance(v, Invalid)), None)
    if wrong is not None:
        return wrong
    verdicts = [v for v in found if isinstance(v, RubricVerdict)]
    if len({_scores_of(verdict) for verdict in verdicts}) > 1:
        return Invalid("many_scores", "The judge gave more than one verdict.")
    return verdicts[-1]


def scale_of(spec: RubricSpec) -> MetricSpec:
    """The scale on which each dimension is scored."""
    if spec.scoring == "boolean":
        return MetricSpec(
            key="score", name="score", kind="boolean", minimum=0, maximum=1
        )
    return MetricSpec(
        key="score", name="score", kind="ordinal", minimum=LOWEST, maximum=HIGHEST
    )


def _nothing(answer: Answer) -> Invalid:
    if answer.broken:
        return Invalid("not_json", "The judge's answer holds JSON that cannot be read.")
    return Invalid("no_score", "The judge's answer has no scores of dimensions.")


def _scores_of(verdict: RubricVerdict) -> tuple[tuple[str, int | None], ...]:
    return tuple((score.id, score.score) for score in verdict.scores)


def _from_object(item: JSONObject, spec: RubricSpec) -> RubricVerdict | Invalid | None:
    """The verdict that an object is; None when it says nothing about dimensions."""
    fields = {simple_key(key): value for key, value in item.items()}
    if len(fields) < len(item):
        return Invalid("many_scores", "The judge's answer has the same key twice.")
    listed = next((fields[key] for key in LIST_KEYS if key in fields), None)
    if isinstance(listed, (list, tuple)):
        entries = [entry for entry in listed if isinstance(entry, dict)]
        if len(entries) < len(listed):
            return Invalid("bad_score", "A dimension of the answer is no object.")
        pairs = _listed(entries)
    elif isinstance(listed, dict):
        pairs = _mapped(listed)
    else:
        known = {simple_key(dimension.id) for dimension in spec.dimensions}
        if not known & fields.keys():
            return _inner(item, spec)
        pairs = _mapped({k: v for k, v in item.items() if simple_key(k) in known})
    if isinstance(pairs, Invalid):
        return pairs
    return _verdict(pairs, _reason(fields), spec)


def _inner(item: JSONObject, spec: RubricSpec) -> RubricVerdict | Invalid | None:
    if len(item) != 1:
        return None
    (inner,) = item.values()
    return _from_object(inner, spec) if isinstance(inner, dict) else None


Pairs = list[tuple[str, JSONObject]]


def _listed(entries: Sequence[JSONObject]) -> Pairs | Invalid:
    """(id, fields) of a list of objects that each name their dimension."""
    pairs: Pairs = []
    for entry in entries:
        fields = {simple_key(key): value for key, value in entry.items()}
        name = next((fields[key] for key in ID_KEYS if key in fields), None)
        if len(fields) < len(entry) or not isinstance(name, str):
            return Invalid("bad_score", "A dimension of the answer has no id.")
        pairs.append((name, fields))
    return pairs


def _mapped(entries: JSONObject) -> Pairs | Invalid:
    """(id, fields) of an object with dimensions as keys: scores, or objects."""
    pairs: Pairs = []
    for name, value in entries.items():
        if isinstance(value, dict):
            fields = {simple_key(key): inner for key, inner in value.items()}
        else:
            fields = {"score": value}
        pairs.append((name, fields))
    return pairs


def _verdict(pairs: Pairs, reason: str, spec: RubricSpec) -> RubricVerdict | Invalid:
    by_id: dict[str, JSONObject] = {}
    ignored: list[str] = []
    known = {simple_key(dimension.id): dimension.id for dimension in spec.dimensions}
    for name, fields in pairs:
        key = known.get(simple_key(name))
        if key is None:
            ignored.append(name[:_SHOWN])
        elif key in by_id:
            return Invalid("many_scores", f"The dimension {key} appears twice.")
        else:
            by_id[key] = fields
    scores: list[DimensionScore] = []
    for dimension in spec.dimensions:
        if dimension.id not in by_id:
            return Invalid("no_score", f"The dimension {dimension.id} is missing.")
        score = _score(dimension, by_id[dimension.id], spec)
        if isinstance(score, Invalid):
            return score
        scores.append(score)
    return RubricVerdict(tuple(scores), reason, tuple(ignored))


def _score(
    dimension: Dimension, fields: JSONObject, spec: RubricSpec
) -> DimensionScore | Invalid:
    applicable = _applicable(fields.get("applicable", True))
    reason = _reason(fields)
    weight = None if spec.scoring == "boolean" else dimension.weight
    if applicable is None:
        shown = compact(fields["applicable"])[:_SHOWN]
        sentence = f"{dimension.id}: applicable is {shown}, not true or false."
        return Invalid("bad_score", sentence)
    if not applicable:
        if dimension.always_applicable:
            sentence = f"{dimension.id} always applies, but the judge left it out."
            return Invalid("no_score", sentence)
        return DimensionScore(
            dimension.id, None, applicable=False, weight=weight, reason=reason
        )
    if "score" not in fields:
        return Invalid("no_score", f"{dimension.id}: the score is missing.")
    score = check_score(fields["score"], scale_of(spec))
    if isinstance(score, Invalid):
        return Invalid(score.code, f"{dimension.id}: {score.sentence}")
    return DimensionScore(
        dimension.id, int(score), applicable=True, weight=weight, reason=reason
    )


def _applicable(value: JSON) -> bool | None:
    """True, False, or None for what says neither."""
    if isinstance(value, str):
        word = value.strip().lower()
        return True if word in YES else False if word in NO else None
    if isinstance(value, (bool, int)) and value in (0, 1):
        return bool(value)
    return None


def _reason(fields: JSONObject) -> str:
    found = next((fields[key] for key in REASON_KEYS if key in fields), "")
    if isinstance(found, str):
        return found.strip()
    return "" if found is None else compact(found)
