"""Agreement with people: against exact fractions and against statsmodels."""

from __future__ import annotations

import random
import time
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import cohens_kappa

from assay.scoring.agreement import (
    TwoByTwo,
    agreement,
    cohen_kappa,
    two_by_two,
    weighted_kappa,
)

LEVELS = (1, 2, 3, 4, 5)
# Cohen (1960), and the table of many textbooks: 50 proposals read by two people.
TEXTBOOK = [(True, True)] * 20 + [(True, False)] * 5
TEXTBOOK += [(False, True)] * 10 + [(False, False)] * 15


def random_table(rng: random.Random, size: int) -> list[list[int]]:
    """Some tables are sparse: then whole rows and columns are often empty."""
    most = rng.choice([1, 3, 20, 80])
    return [[rng.randint(0, most) for _ in range(size)] for _ in range(size)]


def pairs_of(table):
    return [
        (i + 1, j + 1)
        for i, row in enumerate(table)
        for j, count in enumerate(row)
        for _ in range(count)
    ]


def exact_kappa(table, cost) -> Fraction | None:
    """1 − Σ v·o ÷ Σ v·e with exact fractions. With v = 1 beside the diagonal this is
    (p_o − p_e) ÷ (1 − p_e)."""
    size = range(len(table))
    n = sum(map(sum, table))
    if not n:
        return None
    rows = [Fraction(sum(row), n) for row in table]
    columns = [Fraction(sum(row[j] for row in table), n) for j in size]
    seen = sum(cost(i, j) * Fraction(table[i][j], n) for i in size for j in size)
    chance = sum(cost(i, j) * rows[i] * columns[j] for i in size for j in size)
    return 1 - seen / chance if chance else None


COSTS = {
    "plain": lambda i, j: int(i != j),
    "linear": lambda i, j: abs(i - j),
    "quadratic": lambda i, j: (i - j) ** 2,
}
STATSMODELS = {"plain": None, "linear": "linear", "quadratic": "quadratic"}


def measured(table, kind):
    pairs = pairs_of(table)
    if kind == "plain":
        return cohen_kappa(pairs)
    return weighted_kappa(pairs, range(1, len(table) + 1), kind)


@pytest.mark.parametrize("kind", COSTS)
def test_kappa_is_the_formula_on_1000_random_tables(kind, monkeypatch):
    monkeypatch.setattr("assay.scoring.agreement.RESAMPLES", 2)
    rng = random.Random(kind)
    defined = 0
    for _ in range(1000):
        table = random_table(rng, rng.choice([2, 2, 3, 5]))
        exact = exact_kappa(table, COSTS[kind])
        value = measured(table, kind).value
        if exact is None:
            assert value is None
            continue
        defined += 1
        assert abs(Fraction(value) - exact) < Fraction(1, 10**12)
    assert defined > 900


@pytest.mark.parametrize("kind", COSTS)
def test_kappa_is_that_of_statsmodels_on_1000_random_tables(kind, monkeypatch):
    monkeypatch.setattr("assay.scoring.agreement.RESAMPLES", 2)
    rng = random.Random(f"{kind} again")
    compared = 0
    while compared < 1000:
        table = random_table(rng, rng.choice([2, 2, 3, 5]))
        value = measured(table, kind).value
        if value is None:
            continue
        compared += 1
        reference = cohens_kappa(
            np.array(table), wt=STATSMODELS[kind], return_results=False
        )
        assert value == pytest.approx(reference, abs=1e-12)


def test_the_textbook_table():
    assert two_by_two(TEXTBOOK) == TwoByTwo(20, 5, 10, 15)
    assert two_by_two(TEXTBOOK).total == 50
    assert two_by_two(TEXTBOOK).agreed == 35
    assert agreement(TEXTBOOK).value == 0.7
    assert cohen_kappa(TEXTBOOK).value == pytest.approx(0.4, abs=1e-15)


@pytest.mark.parametrize("value", [True, False])
def test_one_category_only_has_no_kappa(value):
    pairs = [(value, value)] * 40
    assert cohen_kappa(pairs).value is None
    assert cohen_kappa(pairs).interval is None
    assert agreement(pairs).value == 1
    assert weighted_kappa([(3, 3)] * 40, LEVELS).value is None


def test_a_judge_who_says_the_same_always_agrees_by_chance():
    pairs = [(True, True)] * 30 + [(True, False)] * 10
    assert cohen_kappa(pairs).value == 0
    assert agreement(pairs).value == 0.75


def test_no_pairs_give_nothing():
    for found in (agreement([]), cohen_kappa([]), weighted_kappa([], LEVELS)):
        assert (found.value, found.interval, found.n) == (None, None, 0)
        assert not found.enough
    assert two_by_two([]).total == 0


@pytest.mark.parametrize(("n", "enough"), [(29, False), (30, True), (31, True)])
def test_below_thirty_is_too_few(n, enough):
    pairs = [(True, bool(i % 2)) for i in range(n)]
    assert agreement(pairs).enough is enough


def test_weights_tell_near_from_far():
    near = [(3, 4), (4, 3), (2, 2), (5, 5), (1, 1)]
    far = [(1, 5), (5, 1), (2, 2), (5, 5), (1, 1)]
    for weights in ("linear", "quadratic"):
        close = weighted_kappa(near, LEVELS, weights).value
        assert close > weighted_kappa(far, LEVELS, weights).value


def test_a_score_that_is_no_level_is_refused():
    with pytest.raises(ValueError, match="6 is none of the levels"):
        weighted_kappa([(6, 3)], LEVELS)


def test_intervals_are_those_of_pairs_drawn_again():
    """The same interval from resampled pairs instead of resampled tables."""
    rng = np.random.default_rng(7)
    pairs = np.array(TEXTBOOK)
    drawn = [pairs[rng.integers(0, 50, 50)] for _ in range(4000)]
    kappas = [cohens_kappa_of(d) for d in drawn]
    low, high = np.quantile(kappas, [0.025, 0.975])
    found = cohen_kappa(TEXTBOOK).interval
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.03)


def cohens_kappa_of(pairs) -> float:
    table = np.histogram2d(pairs[:, 0], pairs[:, 1], bins=2)[0]
    return cohens_kappa(table, return_results=False)


def test_the_interval_of_a_share_covers_it_as_often_as_it_says():
    rng = random.Random(5)
    inside = 0
    for _ in range(200):
        pairs = [(True, rng.random() < 0.8) for _ in range(120)]
        found = agreement(pairs).interval
        inside += found.low <= 0.8 <= found.high
    assert 180 <= inside <= 200


def test_equal_pairs_give_equal_intervals_quickly():
    rng = random.Random(1)
    pairs = [(rng.choice(LEVELS), rng.choice(LEVELS)) for _ in range(100_000)]
    began = time.perf_counter()
    first = weighted_kappa(pairs, LEVELS)
    assert time.perf_counter() - began < 2
    assert first == weighted_kappa(list(pairs), LEVELS)


@given(
    st.lists(st.tuples(st.sampled_from(LEVELS), st.sampled_from(LEVELS)), max_size=40)
)
def test_properties(pairs):
    swapped = [(person, judge) for judge, person in pairs]
    for measure in (agreement, cohen_kappa, lambda p: weighted_kappa(p, LEVELS)):
        found = measure(pairs)
        value = found.value
        if value is not None:
            assert -1 - 1e-9 <= value <= 1
            assert measure(swapped).value == pytest.approx(value, abs=1e-12)
        if found.interval is not None:
            assert found.interval.low <= found.interval.high
    same = [(judge, judge) for judge, _person in pairs]
    assert cohen_kappa(same).value in (None, 1)
