"""Scores that judges give in words instead of JSON: labels, tags, fractions, boxes.

Only a score that is marked as one counts. Numbers elsewhere in the text, ranges,
and fractions of another scale never do.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from assay.scoring.answers import Invalid

_SCORE_WORDS = (
    "score|rating|grade|pontuação|pontuacao|nota|puntuación|puntuacion|calificación"
    "|bewertung|punktzahl|punteggio|оценка|评分|分数|得分|スコア|評価|点数|점수|الدرجة|التقييم"
)
_REASON_WORDS = (
    "reason|reasoning|rationale|justification|explanation|comment"
    "|motivo|justificativa|explicação|razón|justificación|explicación"
    "|begründung|raison|spiegazione|обоснование|理由|原因|이유|السبب"
)
_GAP = r"[\s*_`\u200b\u200c\u200d\u2060\ufeff]*"
_SEPARATOR = r"[:：=]"
_VALUE = r"[+\-\u2212\u2013]?\d+(?:[.,]\d+)?(?:[eE][+-]?\d+)?"

_LABEL = re.compile(
    rf"(?<!\w)(?P<final>final[\s_-]+|overall[\s_-]+)?(?:{_SCORE_WORDS})(?!\w)"
    rf"{_GAP}(?:\([^()\n]{{0,40}}\){_GAP})?{_SEPARATOR}{_GAP}"
    rf"(?={_VALUE})",
    re.IGNORECASE,
)
_HEADING = re.compile(
    rf"^[\s#*_>]*(?P<final>final\s+|overall\s+)?(?:{_SCORE_WORDS})[\s*_]*\n{_GAP}"
    rf"(?={_VALUE}{_GAP}$)",
    re.IGNORECASE | re.MULTILINE,
)
_SAID = re.compile(
    rf"(?<!\w)(?:the|my)\s+(?P<final>final\s+|overall\s+)?(?:score|rating|grade)"
    rf"\s+is{_GAP}:?{_GAP}(?={_VALUE})",
    re.IGNORECASE,
)
_BOXED = re.compile(rf"\\boxed\{{\s*(?:\\text\{{)?\s*(?P<value>{_VALUE})\s*\}}")
_SCORE_TAG = re.compile(
    r"<(?P<tag>S2|score|rating)>(?P<value>[^<]*)(?:</(?P=tag)>|$)", re.IGNORECASE
)
_REASON_TAG = re.compile(
    r"<(?P<tag>S1|reason|explanation|justification|rationale)>(?P<reason>.*?)"
    r"(?:</(?P=tag)>|$)",
    re.IGNORECASE | re.DOTALL,
)
_REASON = re.compile(
    rf"(?<!\w)(?:{_REASON_WORDS})(?!\w)[ \t*_]*[:：]{_GAP}", re.IGNORECASE
)
_NUMBER = re.compile(rf"(?P<value>{_VALUE})(?P<rest>.*)", re.DOTALL)
_PERCENT = re.compile(r"\s*[%％]")
_FRACTION = re.compile(
    r"\s*\(?\s*(?:/|／|out\s+of|of|von|sur|su|de|из)\s*(?P<whole>\d+(?:[.,]\d+)?)",
    re.IGNORECASE,
)
_RANGE = re.compile(
    r"\s*(?:[-\u2010-\u2015~/]|to|or|and|até|a|ou|o|bis|oder|y|e)\s*\d", re.IGNORECASE
)
_REMARK = re.compile(r"\s*(?:[(\[\-\u2013\u2014:,.;!*_`][^\d]*)?$", re.DOTALL)
_AROUND = " \t\r\n*_`#\"'\u200b\u200c\u200d\u2060\ufeff"


@dataclass(frozen=True, slots=True)
class Spoken:
    """A score found in a text, or what is wrong with it, and where it stands."""

    value: float | str | Invalid
    start: int
    end: int


def read_number(text: str, maximum: float) -> float | Invalid:
    """A text that is nothing but a score: `4`, `4/5`, `4 out of 5`, `4 (good)`."""
    bare = text.strip(_AROUND)
    match = _NUMBER.fullmatch(bare)
    if match is None:
        return Invalid("bad_score", f'The score "{text[:60]}" is not a number.')
    found = _judged(match, maximum)
    if isinstance(found, Invalid):
        return found
    value, used = found
    if not _REMARK.fullmatch(bare, used):
        return Invalid("bad_score", f'The score "{text[:60]}" is not a number.')
    return value


def _judged(match: re.Match[str], maximum: float) -> tuple[float, int] | Invalid:
    """The number of a match of `_NUMBER` seen with what follows, and where it ends."""
    digits, rest = match["value"], match["rest"]
    at = match.end("value")
    shown = (digits + rest[:12]).splitlines()[0].strip()
    if _PERCENT.match(rest):
        return _other_scale(shown)
    fraction = _FRACTION.match(rest)
    if fraction:
        if _number(fraction["whole"]) != maximum:
            return _other_scale(shown)
        closing = 1 if rest[fraction.end() : fraction.end() + 1] == ")" else 0
        return _number(digits), at + fraction.end() + closing
    if _RANGE.match(rest):
        return Invalid("many_scores", "The judge gave more than one score.")
    if rest[:1].isalnum():
        return Invalid("bad_score", f'The score "{shown}" is not a number.')
    return _number(digits), at


def _other_scale(shown: str) -> Invalid:
    return Invalid("other_scale", f'The score "{shown}" uses another scale.')


def _number(digits: str) -> float:
    plain = digits.replace(",", ".").replace("\u2212", "-").replace("\u2013", "-")
    return float(plain)


def tagged_scores(text: str) -> list[Spoken]:
    """Scores between tags, as in `<S2>4</S2>`."""
    return [
        Spoken(match["value"], match.start(), match.end())
        for match in _SCORE_TAG.finditer(text)
    ]


def labelled_scores(text: str, maximum: float) -> list[Spoken]:
    """Scores behind a label, as in `Score: 4`. One called final replaces the others."""
    labels = [
        label
        for pattern in (_LABEL, _HEADING, _SAID)
        for label in pattern.finditer(text)
    ]
    finals = [label for label in labels if label["final"]]
    return [_labelled(text, label, maximum) for label in finals or labels]


def bare_scores(text: str, maximum: float) -> list[Spoken]:
    """Scores without a label: in a LaTeX box, or as all that the text says."""
    boxes = [
        Spoken(_number(box["value"]), box.start(), box.start())
        for box in _BOXED.finditer(text)
    ]
    if boxes:
        return boxes
    bare = text.strip(_AROUND).rstrip(".")
    match = _NUMBER.fullmatch(bare)
    if match is None:
        return []
    judged = _judged(match, maximum)
    if isinstance(judged, Invalid):
        return [Spoken(judged, 0, len(text))]
    value, end = judged
    # With words behind it, a number at the beginning need not be the score.
    return [Spoken(value, 0, len(text))] if end == len(bare) else []


def _labelled(text: str, label: re.Match[str], maximum: float) -> Spoken:
    match = _NUMBER.match(text, label.end())
    assert match is not None
    judged = _judged(match, maximum)
    if isinstance(judged, Invalid):
        return Spoken(judged, label.start(), match.end("value"))
    value, end = judged
    return Spoken(value, label.start(), end)


def spoken_reason(text: str, scores: Sequence[Spoken]) -> str:
    """The reason that is marked as one, else the text without its scores."""
    tagged = _REASON_TAG.search(text)
    if tagged:
        return tagged["reason"].strip()
    label = _REASON.search(text)
    if label:
        end = min((s.start for s in scores if s.start >= label.end()), default=None)
        return text[label.end() : end].strip()
    kept, at = [], 0
    for spoken in sorted(scores, key=lambda s: s.start):
        kept.append(text[at : spoken.start])
        at = max(at, spoken.end)
    kept.append(text[at:].lstrip(_AROUND + ".,;:)"))
    return "".join(kept).strip(_AROUND.replace('"', ""))
