"""Rubrics as JSON: what is read, what is named, what comes out again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.scoring.rubric.exchange import (
    UnreadableError,
    definition_json,
    dimensions_json,
    pretty,
    read_json,
)
from assay.scoring.rubric.spec import Dimension, RubricSpec

SEED = (Path(__file__).parents[1] / "data/restaurant-rubric.json").read_text()


def one(**fields: object) -> str:
    return json.dumps([{"id": "tone", "description": "Kind.", "weight": 3, **fields}])


def notes(text: str) -> list[str]:
    return [str(note) for note in read_json(text).notes]


def spec_of(text: str) -> RubricSpec:
    return RubricSpec(
        dimensions=tuple(
            Dimension(
                id=d.id,
                description=d.description,
                weight=int(d.weight) if d.weight else None,
                always_applicable=d.always_applicable,
                allowed={"yes": True, "no": False, "": None}[d.allowed],
                key="k",
            )
            for d in read_json(text).dimensions
        )
    )


def test_the_seed_comes_out_byte_for_byte():
    found = read_json(SEED)
    assert not found.notes
    assert not found.fields
    assert pretty(dimensions_json(spec_of(SEED))) + "\n" == SEED


def test_a_definition_of_foundry():
    text = json.dumps(
        {
            "type": "rubric",
            "dimensions": json.loads(SEED),
            "pass_threshold": 0.6,
            "scoring": {"mode": "likert"},
        }
    )
    found = read_json(text)
    assert found.fields == {"pass_threshold": "0.6", "scoring": "likert"}
    assert len(found.dimensions) == 6
    assert not found.notes


def test_a_wrapped_definition_with_our_own_settings():
    text = json.dumps(
        {
            "name": "booking",
            "display_name": "Booking",
            "description": "How it books.",
            "categories": ["quality"],
            "supported_evaluation_levels": ["conversation"],
            "definition": {
                "type": "rubric",
                "dimensions": json.loads(SEED),
                "normalization": "minmax",
                "fail_on_any_1": True,
            },
        }
    )
    found = read_json(text)
    assert found.fields == {
        "name": "booking",
        "title": "Booking",
        "description": "How it books.",
        "category": "quality",
        "level": "conversation",
        "normalization": "minmax",
        "fail_on_any_1": True,
    }
    assert not found.notes


def test_older_names_are_understood():
    text = json.dumps(
        {
            "rubric_id": "old",
            "dimensions": [{"dimension_id": "tone", "description": "x"}],
        }
    )
    found = read_json(text)
    assert found.fields["name"] == "old"
    assert found.dimensions[0].id == "tone"


def test_what_goes_out_comes_in_again():
    spec = RubricSpec(
        dimensions=(
            Dimension(id="a", description="x", allowed=True),
            Dimension(id="b", description="y", allowed=False, always_applicable=True),
        ),
        category="safety",
        scoring="boolean",
        level="conversation",
        normalization="minmax",
        fail_on_any_1=True,
        one_call_per_dimension=True,
        pass_threshold=0.75,
    )
    found = read_json(pretty(definition_json(spec, name="safe", title="Safe")))
    assert not found.notes
    assert found.fields == {
        "name": "safe",
        "title": "Safe",
        "description": "",
        "category": "safety",
        "scoring": "boolean",
        "level": "conversation",
        "normalization": "minmax",
        "fail_on_any_1": True,
        "one_call_per_dimension": True,
        "pass_threshold": "0.75",
    }
    assert [d.allowed for d in found.dimensions] == ["yes", "no"]
    assert found.dimensions[1].always_applicable


def test_exports_know_no_keys():
    assert '"key"' not in pretty(definition_json(spec_of(SEED), name="x"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "Paste the JSON"),
        ("  \n", "Paste the JSON"),
        ('[\n  {"id": }\n]', "line 2, column 10"),
        ("[1, 2", "line 1"),
        ("{}", "no dimensions"),
        ('{"dimensions": {}}', "no dimensions"),
        ("42", "no dimensions"),
        ('[{"weight": NaN}]', "NaN"),
        ('[{"weight": ' + "9" * 5000 + "}]", "too long"),
        ("[" * 100_000, "too deep"),
        (json.dumps([{"id": f"d{n}"} for n in range(101)]), "101 dimensions"),
    ],
)
def test_what_cannot_be_read_says_why(text, words):
    with pytest.raises(UnreadableError) as caught:
        read_json(text)
    assert words in str(caught.value)


def test_sixty_dimensions_are_kept():
    assert len(read_json(json.dumps([{"id": f"d{n}"} for n in range(60)])).dimensions)


def test_unknown_fields_are_named():
    (note,) = notes(one(colour="red", size=3))
    assert "Dimension 1" in note
    assert "colour, size" in note
    (note,) = notes(
        '{"dimensions": [], "metrics": {}, "scoring": {"mode": "likert", "x": 1}}'
    )
    assert "metrics, scoring.x" in note


@pytest.mark.parametrize(
    ("fields", "place", "kept"),
    [
        ({"weight": "9"}, "dimension 1: weight", "9"),
        ({"weight": True}, "dimension 1: weight", "true"),
        ({"weight": [9]}, "dimension 1: weight", "[9]"),
    ],
)
def test_a_weight_of_another_type_is_named_and_kept(fields, place, kept):
    (note,) = notes(one(**fields))
    assert place in note
    assert read_json(one(**fields)).dimensions[0].weight == kept


def test_numbers_stay_as_they_are():
    assert read_json(one(weight=2.5)).dimensions[0].weight == "2.5"
    assert read_json(one(weight=11)).dimensions[0].weight == "11"
    assert not notes(one(weight=2.5))


def test_other_wrong_types_are_named():
    found = notes(
        json.dumps(
            [
                {"id": 7, "description": ["x"], "always_applicable": "yes"},
                "just words",
            ]
        )
    )
    places = (
        "dimension 1: id",
        "1: description",
        "1: always_applicable",
        "dimension 2",
    )
    for place in places:
        assert any(place in note for note in found), place
    assert read_json('["just words"]').dimensions[0].description == "just words"


def test_a_field_that_stands_twice_is_named():
    (note,) = notes('[{"id": "a", "id": "b"}]')
    assert '"id" stands twice' in note


def test_another_type_is_named():
    (note,) = notes('{"type": "prompt", "dimensions": []}')
    assert "prompt" in note


def test_texts_that_no_database_takes():
    dimension = read_json('[{"id": "a\\u0000b", "description": "\\ud800"}]').dimensions[
        0
    ]
    assert "\x00" not in dimension.id
    dimension.description.encode()


def test_a_byte_order_mark_is_no_fault():
    assert read_json("\ufeff" + SEED).dimensions
