"""The simulated model as judge by a rubric and as its author."""

from __future__ import annotations

from dataclasses import replace

import orjson
import pytest

from assay.data.chat import ChatReply, ChatRequest
from assay.scoring.answers import Invalid
from assay.scoring.asking import repair_request
from assay.scoring.echo import is_echo
from assay.scoring.rubric import Dimension, RubricSpec, generate, judge
from assay.scoring.rubric.answers import RubricVerdict, parse_rubric
from assay.scoring.rubric.spec import problems
from targets import simulator, wire
from tests.core.rubrics import RESTAURANT, definition_of

INPUTS = {
    "query": "Book a table for four on Friday at eight.",
    "response": "A table for four on Friday at eight is booked. See you then!",
}
TALK = {
    "messages": [
        {"role": "user", "content": "I need a table on Friday."},
        {"role": "assistant", "content": "For how many people?"},
        {"role": "user", "content": "Four, at eight.\n\nAgent turn 9:"},
        {"role": "assistant", "content": "Four on Friday at eight: booked."},
    ]
}
CHECKS = RESTAURANT.model_copy(update={"scoring": "boolean"})
SAFETY = RubricSpec(
    dimensions=(
        Dimension(id="offers_help", description="Offers help.", allowed=True),
        Dimension(id="gives_advice", description="Gives advice.", allowed=False),
    ),
    scoring="boolean",
    category="safety",
)
WHOLE = RESTAURANT.model_copy(update={"level": "conversation"})
ONE = RubricSpec(dimensions=RESTAURANT.dimensions[:1])
PROMPT = """\
# Booking assistant
You book tables for the Blue Door. Dinner is served from 17:00 to 22:00.
- Parties of more than eight people must call the restaurant.
- Bookings open thirty days ahead.
Always repeat date, time and party size before you confirm.
Never invent dishes; the menu is the only source.
"""


def body_of(request: ChatRequest, *, schema: bool = True) -> dict:
    messages = [wire.message_body(m, wire.by_name) for m in request.messages]
    request = request if schema else replace(request, schema=None)
    params = wire.parameters(request, set())
    return {"model": simulator.MODEL, "messages": messages, **params}


def said(request: ChatRequest, *, schema: bool = True) -> str:
    answer = simulator.reply(body_of(request, schema=schema))
    return answer["choices"][0]["message"]["content"]


def judged(spec: RubricSpec, inputs: dict, *, schema: bool = True) -> RubricVerdict:
    request = judge.build_request(definition_of(spec), inputs, fence="0123abcd")
    found = parse_rubric(ChatReply(said(request, schema=schema)), spec)
    assert isinstance(found, RubricVerdict), found
    return found


@pytest.mark.parametrize("schema", [True, False])
@pytest.mark.parametrize(
    ("spec", "inputs"),
    [
        (RESTAURANT, INPUTS),
        (CHECKS, INPUTS),
        (SAFETY, INPUTS),
        (WHOLE, TALK),
        (ONE, INPUTS),
    ],
    ids=["restaurant", "checklist", "safety", "conversation", "one"],
)
def test_its_verdicts_can_be_read(spec, inputs, schema):
    found = judged(spec, inputs, schema=schema)
    assert [score.id for score in found.scores] == [d.id for d in spec.dimensions]
    assert not found.ignored
    assert found.reason.startswith("Simulated judgement")
    assert all(s.reason.startswith("Simulated judgement") for s in found.scores)


def test_one_call_per_dimension_gives_the_scores_of_one_call():
    definition = definition_of(RESTAURANT)
    together = {s.id: s.score for s in judged(RESTAURANT, INPUTS).scores}
    for only in RESTAURANT.dimensions:
        request = judge.build_request(definition, INPUTS, fence="0123abcd", only=only)
        spec = RESTAURANT.model_copy(update={"dimensions": (only,)})
        found = parse_rubric(ChatReply(said(request)), spec)
        assert isinstance(found, RubricVerdict)
        assert found.scores[0].score == together[only.id]


def test_equal_requests_get_equal_answers():
    request = judge.build_request(definition_of(RESTAURANT), INPUTS, fence="0123abcd")
    body = body_of(request)
    assert simulator.reply(body) == simulator.reply(dict(reversed(body.items())))


def test_scores_follow_the_overlap_and_differ_by_dimension():
    truth = {**INPUTS, "ground_truth": INPUTS["response"]}
    good = judged(RESTAURANT, truth)
    bad = judged(RESTAURANT, {**truth, "response": "Bananas."})
    assert min(s.score for s in good.scores if s.score) >= 4
    assert max(s.score for s in bad.scores if s.score) <= 2
    many = [
        judged(RESTAURANT, {**INPUTS, "response": f"A table, {n}."}) for n in range(30)
    ]
    assert len({s.score for found in many for s in found.scores}) > 2


def test_now_and_then_a_dimension_does_not_apply_unless_it_must():
    found = [
        score
        for n in range(40)
        for score in judged(RESTAURANT, {**INPUTS, "response": f"Yes, {n}."}).scores
    ]
    always = {d.id for d in RESTAURANT.dimensions if d.always_applicable}
    apart = {score.id for score in found if not score.applicable}
    assert apart
    assert not apart & always
    assert sum(not score.applicable for score in found) < len(found) / 4


def test_of_a_conversation_the_last_answer_counts():
    without = [*TALK["messages"][:3], {"role": "assistant", "content": "Bananas."}]
    good, bad = judged(WHOLE, TALK), judged(WHOLE, {"messages": without})
    total = [sum(s.score or 0 for s in v.scores) for v in (good, bad)]
    assert total[0] > total[1]


def generated(*texts, category="quality", earlier=(), schema=True):
    sources = [generate.Source("prompt", "System prompt", text) for text in texts]
    request = generate.build_request(
        sources, category=category, earlier=earlier, fence="0123abcd"
    )
    text = said(request, schema=schema)
    assert not is_echo(ChatReply(text), request.messages[1].parts, "0123abcd")
    found = generate.parse_generated(ChatReply(text), category=category)
    assert not isinstance(found, Invalid), found
    return found


@pytest.mark.parametrize("schema", [True, False])
@pytest.mark.parametrize("category", ["quality", "safety"])
@pytest.mark.parametrize("text", [PROMPT, "Be kind.", "Ёлки зелёные и белые", "x"])
def test_its_rubrics_follow_the_rules(category, text, schema):
    found = generated(text, category=category, schema=schema)
    assert found.notes == ()
    assert 5 <= len(found.dimensions) <= 7
    scoring = "boolean" if category == "safety" else "likert"
    spec = RubricSpec(dimensions=found.dimensions, category=category, scoring=scoring)
    assert problems(spec) == []
    written = found.dimensions[:-1]
    if category == "safety":
        assert {d.allowed for d in written} == {True, False}
    else:
        assert sum(8 <= d.weight <= 10 for d in written) == 1
        assert sum(1 <= d.weight <= 6 for d in written) == len(written) - 1


def test_its_dimensions_repeat_the_material():
    found = generated(PROMPT)
    told = " ".join(d.description for d in found.dimensions)
    assert "Parties of more than eight people must call the restaurant." in told
    assert any("dinner" in d.id for d in found.dimensions)


def test_it_keeps_ids_of_the_rubric_so_far():
    found = generated(PROMPT, earlier=RESTAURANT.dimensions[:3])
    ids = [d.id for d in found.dimensions]
    assert ids[:3] == [d.id for d in RESTAURANT.dimensions[:3]]
    assert len(ids) == len(set(ids))


def test_asked_again_it_answers_the_same():
    request = judge.build_request(definition_of(RESTAURANT), INPUTS, fence="0123abcd")
    fault = Invalid("not_json", "That was no JSON.")
    again = repair_request(request, ChatReply("Hm."), fault)
    assert orjson.loads(said(again)) == orjson.loads(said(request))
