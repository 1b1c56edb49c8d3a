"""Raw answers of rubric judges: read as expected, or refused."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.data.chat import ChatReply
from assay.scoring.answers import Invalid
from assay.scoring.rubric import Dimension, RubricSpec
from assay.scoring.rubric.answers import RubricVerdict, parse_rubric
from assay.scoring.rubric.score import aggregate
from tests.core.rubrics import answer, spec_of
from tests.core.test_verdict_cases import RUBRIC_CASES, TEXTS, reply_of

ASKED = RubricSpec(
    dimensions=(
        Dimension(id="intent_recognition", description="x", weight=9),
        Dimension(id="policy_enforcement", description="x", weight=5),
        Dimension(
            id="general_quality", description="x", weight=5, always_applicable=True
        ),
    )
)


def agrees(found, expected):
    if expected is None:
        return False
    if isinstance(expected, str):
        return isinstance(found, Invalid)
    if not isinstance(found, RubricVerdict):
        return False
    dimensions = {
        score.id: (score.score, score.applicable, score.reason)
        for score in found.scores
    }
    wanted = {
        name: (value["score"], value["applicable"], value["reason"].strip())
        for name, value in expected["dimensions"].items()
    }
    overall = aggregate(ASKED, found.scores).score
    return (
        dimensions == wanted
        and found.reason == expected["reason"].strip()
        and overall == pytest.approx(expected["overall"], abs=1e-9)
    )


def test_there_are_47_answers():
    assert len(RUBRIC_CASES) == 47


@pytest.mark.parametrize("case", RUBRIC_CASES, ids=[c["id"] for c in RUBRIC_CASES])
def test_it_reads(case):
    found = parse_rubric(reply_of(case), ASKED)
    assert agrees(found, case["expect"]) or agrees(found, case.get("alt")), found


def parse(text, spec):
    return parse_rubric(ChatReply(text, "stop"), spec)


def test_not_applicable_is_refused_where_a_dimension_always_applies():
    found = parse(answer(ASKED, 5, 4, None), ASKED)
    assert isinstance(found, Invalid)
    assert "general_quality always applies" in found.sentence


def test_all_may_be_not_applicable_where_none_always_applies():
    spec = spec_of(1, 2)
    found = parse(answer(spec, None, None), spec)
    assert [score.score for score in found.scores] == [None, None]


@pytest.mark.parametrize(
    ("score", "read"), [(True, 1), ("pass", 1), (0, 0), ("no", 0), ("maybe", None)]
)
def test_checks_are_true_or_false(score, read):
    spec = spec_of(None, scoring="boolean")
    found = parse(answer(spec, score), spec)
    if read is None:
        assert isinstance(found, Invalid)
    else:
        assert found.scores[0].score == read


def test_other_forms_of_the_same_verdict():
    spec = spec_of(1, 2)
    for text in (
        '{"a": {"score": 4, "reason": "x"}, "b": {"score": 2, "reason": "y"}}',
        '{"dimensions": {"a": 4, "b": 2}}',
        '{"result": {"dimension_scores": [{"id": "A", "score": 4}, '
        '{"dimension_id": "b", "score": "2/5"}]}}',
        'So: {"dimension_scores": [{"id": "a", "score": 4}, {"id": "b", "score": 2}]}',
    ):
        found = parse(text, spec)
        assert isinstance(found, RubricVerdict), (text, found)
        assert [score.score for score in found.scores] == [4, 2]


@given(TEXTS)
def test_any_text_gives_whole_scores_of_the_scale_or_none(text):
    found = parse(text, ASKED)
    if isinstance(found, RubricVerdict):
        assert all(score.score in (None, 1, 2, 3, 4, 5) for score in found.scores)
        json.dumps([score.as_json() for score in found.scores], allow_nan=False)
    else:
        assert found.sentence


@given(
    st.lists(
        st.one_of(st.none(), st.integers(-2, 8), st.floats()), min_size=2, max_size=2
    )
)
def test_scores_are_read_back_or_refused(scores):
    spec = spec_of(1, 2)
    found = parse(answer(spec, *scores), spec)
    good = all(s is None or (s in range(1, 6) and s == int(s)) for s in scores)
    assert isinstance(found, RubricVerdict) is good
    if good:
        assert [score.score for score in found.scores] == scores
