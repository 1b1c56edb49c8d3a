"""The arithmetic of a rubric: worked examples, and what must always hold."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from assay.scoring.rubric import RubricSpec
from assay.scoring.rubric.score import aggregate, driver_sentence
from assay.scoring.rubric.spec import problems
from tests.core.rubrics import RESTAURANT, scores_of, spec_of


@pytest.mark.parametrize(
    ("scores", "options", "expected"),
    [
        ((5, 5, 5, 4, 5, 4), {}, 146 / 31 / 5),
        ((3, 1, 1, 2, 2, 1), {}, 55 / 31 / 5),
        ((5, 5, 5, 4, 5, None), {}, (146 - 20) / 26 / 5),
        ((5, 5, 5, 4, 5, 4), {"normalization": "minmax"}, (146 / 31 - 1) / 4),
        ((1, 1, 1, 1, 1, 1), {}, 0.2),
        ((1, 1, 1, 1, 1, 1), {"normalization": "minmax"}, 0.0),
        ((5, 5, 5, 5, 5, 5), {}, 1.0),
        ((5, 5, 5, 5, 5, 5), {"normalization": "minmax"}, 1.0),
    ],
)
def test_worked_examples(scores, options, expected):
    spec = RESTAURANT.model_copy(update=options)
    found = aggregate(spec, scores_of(spec, *scores))
    assert found.score == pytest.approx(expected, abs=1e-15)


def test_the_documented_results_to_ten_digits():
    good = aggregate(RESTAURANT, scores_of(RESTAURANT, 5, 5, 5, 4, 5, 4))
    bad = aggregate(RESTAURANT, scores_of(RESTAURANT, 3, 1, 1, 2, 2, 1))
    assert round(good.score, 10) == 0.9419354839
    assert round(bad.score, 10) == 0.3548387097


def test_equal_scores_keep_their_weights():
    spec = spec_of(1, 9, 2)
    assert aggregate(spec, scores_of(spec, 2, 2, 5)).mean == pytest.approx(30 / 12)


def test_without_weights_all_dimensions_weigh_the_same():
    spec = spec_of(None, None)
    assert aggregate(spec, scores_of(spec, 1, 4)).mean == 2.5


def test_no_applicable_dimension_gives_no_score():
    spec = spec_of(1, 2)
    assert aggregate(spec, scores_of(spec, None, None)) is None


def test_a_checklist_scores_the_share_of_checks():
    spec = spec_of(None, None, None, scoring="boolean")
    assert aggregate(spec, scores_of(spec, 1, 1, None)).score == 1.0
    assert aggregate(spec, scores_of(spec, 1, 0, 1)).score == pytest.approx(2 / 3)


def test_a_one_can_fail_the_row():
    spec = spec_of(1, 9, fail_on_any_1=True)
    found = aggregate(spec, scores_of(spec, 1, 5))
    assert found.failed_by_one
    assert found.score == pytest.approx(46 / 10 / 5)
    assert not aggregate(spec, scores_of(spec, 2, 5)).failed_by_one
    plain = spec.model_copy(update={"fail_on_any_1": False})
    assert not aggregate(plain, scores_of(plain, 1, 5)).failed_by_one


def test_the_drivers_are_named_by_what_they_brought_or_cost():
    sentence = driver_sentence(
        RESTAURANT, scores_of(RESTAURANT, 5, 5, 5, 4, 5, 4), passed=True
    )
    assert sentence == (
        "The verdict is driven most by intent_recognition (5), tool_usage_accuracy "
        "(5), and policy_enforcement (5)."
    )
    sentence = driver_sentence(
        RESTAURANT, scores_of(RESTAURANT, 3, 1, 1, 2, 2, 1), passed=False
    )
    assert "tool_usage_accuracy (1), policy_enforcement (1)" in sentence
    assert "general_quality (1)" in sentence


RATED = st.lists(
    st.tuples(st.integers(1, 10), st.one_of(st.none(), st.integers(1, 5))),
    min_size=1,
    max_size=12,
)


def rated(pairs, **options):
    spec = spec_of(*(weight for weight, _score in pairs), **options)
    return spec, scores_of(spec, *(score for _weight, score in pairs))


@given(RATED, st.sampled_from(["ratio", "minmax"]))
def test_the_score_lies_on_its_scale(pairs, normalization):
    spec, scores = rated(pairs, normalization=normalization)
    found = aggregate(spec, scores)
    if all(score is None for _weight, score in pairs):
        assert found is None
    else:
        assert (0.2 if normalization == "ratio" else 0.0) <= found.score <= 1.0


@given(RATED, st.randoms(use_true_random=False))
def test_order_makes_no_difference(pairs, chance):
    spec, scores = rated(pairs)
    order = list(range(len(pairs)))
    chance.shuffle(order)
    moved = RubricSpec(dimensions=tuple(spec.dimensions[i] for i in order))
    assert aggregate(moved, [scores[i] for i in order]) == aggregate(spec, scores)


@given(RATED, st.integers(2, 5))
def test_the_scale_of_the_weights_makes_no_difference(pairs, factor):
    scaled = [(weight * factor, score) for weight, score in pairs]
    assert aggregate(*rated(scaled)) == aggregate(*rated(pairs))


@given(RATED)
def test_not_applicable_equals_absent(pairs):
    there = [(weight, score) for weight, score in pairs if score is not None]
    assume(there)
    assert aggregate(*rated(pairs)) == aggregate(*rated(there))


@given(RATED, st.data(), st.sampled_from(["ratio", "minmax"]))
def test_a_better_dimension_never_lowers_the_score(pairs, data, normalization):
    open_places = [i for i, (_w, s) in enumerate(pairs) if s is not None and s < 5]
    assume(open_places)
    place = data.draw(st.sampled_from(open_places))
    better = list(pairs)
    better[place] = (better[place][0], better[place][1] + 1)
    before = aggregate(*rated(pairs, normalization=normalization)).score
    after = aggregate(*rated(better, normalization=normalization)).score
    assert after > before


# What a rubric may be


def said(spec):
    return [str(problem.sentence) for problem in problems(spec)]


def test_the_restaurant_rubric_is_sound():
    assert said(RESTAURANT) == []


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"id": ""}, "Give the dimension an id."),
        ({"id": "tone & style"}, "Try tone_style"),
        ({"id": "B"}, "There are several dimensions with the id"),
        ({"description": "  "}, "a: say what is measured."),
        ({"weight": 0}, "the weight 0 is not from 1 to 10"),
        ({"weight": 11}, "the weight 11 is not from 1 to 10"),
        ({"weight": None}, "Give every dimension a weight, or none."),
        ({"description": "x" * 5000}, "more than 4000 characters"),
    ],
)
def test_a_wrong_dimension_is_named(changes, sentence):
    spec = spec_of(3, 4)
    first = spec.dimensions[0].model_copy(update=changes)
    found = said(spec.model_copy(update={"dimensions": (first, spec.dimensions[1])}))
    assert any(sentence in message for message in found), found


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"dimensions": ()}, "Add at least one dimension."),
        ({"pass_threshold": 1.2}, "1.2 is not between 0.0 and 1.0"),
        ({"category": "safety"}, "A safety rubric is a checklist"),
    ],
)
def test_a_wrong_rubric_is_named(changes, sentence):
    found = said(spec_of(3, 4).model_copy(update=changes))
    assert any(sentence in message for message in found), found


def test_sixty_dimensions_are_too_many():
    assert "At most 50" in said(spec_of(*[1] * 60))[0]
