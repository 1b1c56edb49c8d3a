"""A generated rubric: what is asked, and what is made of any answer."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.data.chat import ChatReply, MediaPart
from assay.scoring.answers import Invalid
from assay.scoring.rubric import RubricSpec
from assay.scoring.rubric.generate import (
    Generated,
    Source,
    build_request,
    can_generate,
    parse_generated,
    warnings_of,
)
from assay.scoring.rubric.spec import problems
from tests.core.rubrics import RESTAURANT
from tests.core.scripted import text_of

PROMPT = Source("prompt", "System prompt", "You book tables. " * 40)


def parse(value, category="quality"):
    text = value if isinstance(value, str) else json.dumps(value)
    return parse_generated(ChatReply(text, "stop"), category=category)


def dimensions(*weights):
    return {
        "dimensions": [
            {"id": f"part_{n}", "description": f"Does {n}.", "weight": weight}
            for n, weight in enumerate(weights)
        ]
    }


def test_one_leads_and_the_residual_comes_last():
    found = parse(dimensions(9, 6, 4, 2))
    assert [d.weight for d in found.dimensions] == [9, 6, 4, 2, 5]
    assert found.dimensions[-1].id == "general_quality"
    assert found.dimensions[-1].always_applicable
    assert found.dimensions[0].generated_weight == 9
    assert found.notes == ()


@pytest.mark.parametrize(
    ("given_weights", "ruled"),
    [
        ((9, 9, 9), [9, 6, 6]),
        ((3, 5, 2), [3, 8, 2]),
        ((10, 7, 1), [10, 6, 1]),
    ],
)
def test_weights_are_brought_in_line_and_that_is_told(given_weights, ruled):
    found = parse(dimensions(*given_weights))
    assert [d.weight for d in found.dimensions[:-1]] == ruled
    assert "Weights were brought in line" in str(found.notes[-1])


@pytest.mark.parametrize("weight", [0, 11, 2.5, "x", None, True, [], 1e400])
def test_a_weight_that_is_none_gets_the_usual_one(weight):
    text = json.dumps(dimensions(9, 1)).replace(
        '"weight": 1}', f'"weight": {json.dumps(weight)}}}'
    )
    found = parse(text)
    assert isinstance(found, (Generated, Invalid))
    if isinstance(found, Generated):
        assert found.dimensions[1].weight == 4
        assert any("got the weight 4" in str(note) for note in found.notes)


def test_one_dimension_is_kept_and_told():
    found = parse(dimensions(5))
    assert [d.weight for d in found.dimensions] == [8, 5]
    assert "only one dimension" in str(found.notes[-1])


def test_ids_become_usable_and_stand_once():
    found = parse(
        {
            "dimensions": [
                {"id": "Tone & Style", "description": "a", "weight": 9},
                {"id": "tone_style", "description": "again", "weight": 3},
                {"id": "general_quality", "description": "b", "weight": 3},
                {"id": "2 steps", "description": "c", "weight": 3},
                {"id": "empty", "description": " ", "weight": 3},
            ]
        }
    )
    assert [d.id for d in found.dimensions] == [
        "tone_style",
        "d_2_steps",
        "general_quality",
    ]
    assert "empty has no description" in str(found.notes[0])


@pytest.mark.parametrize("text", ["Here are some ideas: be kind.", "[]", "{}", ""])
def test_prose_is_no_rubric(text):
    assert isinstance(parse(text), Invalid)


def test_a_safety_rubric_has_no_weights():
    found = parse(
        {
            "dimensions": [
                {"id": "helps", "description": "a", "allowed": True},
                {"id": "doses", "description": "b", "allowed": False},
            ]
        },
        category="safety",
    )
    assert [(d.weight, d.allowed) for d in found.dimensions] == [
        (None, True),
        (None, False),
        (None, True),
    ]
    assert found.dimensions[-1].id == "general_policy_compliance"


@given(
    st.lists(
        st.fixed_dictionaries(
            {},
            optional={
                "id": st.text(max_size=12) | st.integers(),
                "description": st.text(max_size=12) | st.none(),
                "weight": st.integers() | st.floats() | st.text(max_size=3),
                "allowed": st.booleans() | st.text(max_size=3),
            },
        ),
        max_size=30,
    ),
    st.sampled_from(["quality", "safety"]),
)
def test_whatever_comes_out_is_a_sound_rubric(entries, category):
    found = parse({"dimensions": entries}, category)
    if isinstance(found, Generated):
        scoring = "boolean" if category == "safety" else "likert"
        spec = RubricSpec(
            dimensions=found.dimensions, category=category, scoring=scoring
        )
        assert problems(spec) == []


def test_the_request_holds_the_sources_fenced():
    image = {"$blob": "ab" * 32, "mime": "image/png", "size": 3}
    sources = [PROMPT, Source("dataset", "menu.png", image)]
    request = build_request(
        sources, category="quality", earlier=RESTAURANT.dimensions, fence="f00d"
    )
    text = text_of(request, 1)
    assert "<<<prompt_1 f00d>>>" in text
    assert "intent_recognition: Correctly identifies" in text
    assert "Keep the id of each" in text_of(request, 0)
    assert any(isinstance(part, MediaPart) for part in request.messages[1].parts)


def test_what_may_be_too_little_is_told():
    def codes(*sources, **options):
        return [w.code for w in warnings_of(sources, **options)]

    assert codes(PROMPT) == []
    assert codes(Source("prompt", "p", "")) == [
        "empty_prompt",
        "insufficient_total_input",
    ]
    assert codes(Source("agent", "a", "Be kind.")) == [
        "short_agent_instructions",
        "insufficient_total_input",
    ]
    assert codes(Source("dataset", "d", "x"), PROMPT) == ["short_dataset_content"]
    assert codes(PROMPT, Source("traces", "t", "x"), traces=3) == ["low_trace_count"]


def test_traces_alone_make_no_rubric():
    assert not can_generate([Source("traces", "t", "x" * 1000)])
    assert not can_generate([Source("prompt", "p", "  ")])
    assert can_generate([PROMPT])
