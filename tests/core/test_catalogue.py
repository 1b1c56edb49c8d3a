from __future__ import annotations

import re

import pytest

from assay.scoring.catalogue import FOLDER, DefinitionError, get, load, parse

JUDGES = [d for d in load().values() if d.kind == "judge"]

GOOD = """+++
id = "tone"
name = "Tone"
description = "How friendly it is."
category = "quality"
kind = "judge"
input_sets = [["response"]]

[[metrics]]
key = "tone"
name = "Tone"
kind = "ordinal"
minimum = 1
maximum = 5
threshold = 3
+++
Judge the tone of the response.
"""


def test_every_file_is_an_evaluator_under_its_own_name():
    assert {path.stem for path in FOLDER.glob("*.md")} == set(load())
    assert len(load()) == 13


def test_they_are_ordered_by_category_then_name():
    order = ["quality", "rag", "agent", "safety", "nlp"]
    places = [(order.index(d.category), d.name) for d in load().values()]
    assert places == sorted(places)


@pytest.mark.parametrize("definition", JUDGES, ids=[d.id for d in JUDGES])
def test_prompts_name_their_inputs_and_all_levels(definition):
    (metric,) = definition.metrics
    assert (metric.key, metric.threshold) == (definition.id, 3)
    assert definition.media == ("image", "audio")
    for variant in definition.variants:
        text = variant.instructions
        for name in variant.inputs:
            assert f"- {name}:" in text
        levels = re.findall(r"^(\d) – \S", text, re.MULTILINE)
        assert levels == ["1", "2", "3", "4", "5"]
        assert "{{" not in text


@pytest.mark.parametrize("definition", load().values(), ids=list(load()))
def test_descriptions_are_one_short_sentence(definition):
    assert definition.description.endswith(".")
    assert len(definition.description) <= 120


def test_groundedness_is_never_judged_without_context():
    definition = get("groundedness")
    assert "context" in definition.always_required
    assert [v.inputs for v in definition.variants] == [
        ("query", "response", "context"),
        ("response", "context"),
    ]


def test_the_composite_has_the_metrics_of_its_members():
    qa = get("qa")
    assert [m.key for m in qa.metrics] == list(qa.members)
    assert qa.metric("f1_score").threshold == 0.5
    assert qa.media == ("image", "audio")
    assert qa.needs_judge


def test_metrics_need_no_judge():
    for definition in load().values():
        if definition.category == "nlp":
            assert not definition.needs_judge
            assert "tokenizer" in {p.key for p in definition.params}


def test_a_user_made_document_is_read_the_same_way():
    definition = parse(GOOD)
    (variant,) = definition.variants
    assert variant.inputs == ("response",)
    assert variant.instructions == "Judge the tone of the response."
    assert parse("\ufeff" + GOOD.replace("\n", "\r\n")) == definition


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        ("+++\nid", "id", "front matter"),
        ('"Tone"\ndesc', "Tone\ndesc", "front matter"),
        ('category = "quality"', 'category = "other"', "category"),
        ("threshold = 3", "threshold = 9", "metrics"),
        ("maximum = 5", 'maximum = "five"', "metrics.0.maximum"),
        ('id = "tone"', 'id = "tone"\ncolour = "red"', "colour"),
        ('[["response"]]', "[]", "input_sets"),
        ("Judge the tone of the response.", "", "variants"),
        ("Judge the tone", "### variant: query\nJudge the tone", "variants"),
        ("Judge the tone", "Hi\n### variant: response\nJudge", "variants"),
        ('kind = "judge"', 'kind = "metric"', "function"),
        ('kind = "judge"', 'kind = "composite"\nmembers = ["nope"]', "members"),
    ],
)
def test_mistakes_are_named_with_file_and_field(old, new, field):
    assert old in GOOD
    with pytest.raises(DefinitionError) as caught:
        parse(GOOD.replace(old, new, 1), source="tone.md")
    assert caught.value.field == field
    assert str(caught.value).startswith(f"tone.md: {field}: ")
