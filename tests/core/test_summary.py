from __future__ import annotations

import json
import math
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.scoring.definition import MetricSpec
from assay.scoring.outcome import Outcome
from assay.scoring.stats import mean_interval, wilson
from assay.scoring.summary import MetricTally, merged

ORDINAL = MetricSpec(key="o", name="O", kind="ordinal", minimum=1, maximum=5)
CONTINUOUS = MetricSpec(key="c", name="C", kind="continuous", minimum=0, maximum=1)

RESULTS = st.lists(
    st.one_of(
        st.tuples(
            st.sampled_from([Outcome.PASS, Outcome.FAIL]),
            st.floats(0, 1, allow_nan=False),
        ),
        st.tuples(st.sampled_from([Outcome.ERROR, Outcome.NOT_APPLICABLE]), st.none()),
    )
)


def tally_of(results, metric=CONTINUOUS):
    tally = MetricTally.of(metric)
    for outcome, score in results:
        tally.add(outcome, score)
    return tally


@given(RESULTS, RESULTS, RESULTS)
def test_merging_is_associative_and_equals_counting_at_once(first, second, third):
    a, b, c = tally_of(first), tally_of(second), tally_of(third)
    whole = tally_of([*third, *first, *second])
    assert a.merge(b).merge(c) == a.merge(b.merge(c)) == whole
    assert merged([a, b, c]) == whole


@given(RESULTS)
def test_counts_always_add_up(results):
    tally = tally_of(results)
    assert tally.total == len(results)
    assert sum(tally.histogram) == tally.scored == tally.passed + tally.failed
    assert MetricTally.from_json(json.loads(json.dumps(tally.as_json()))) == tally
    scores = [score for _, score in results if score is not None]
    if scores:
        assert tally.mean() == pytest.approx(statistics.fmean(scores), abs=1e-9)
        rate = tally.pass_rate()
        assert rate.interval.low <= rate.value <= rate.interval.high
    else:
        assert (tally.mean(), tally.pass_rate()) == (None, None)


def test_errors_and_not_applicable_rows_are_no_failures():
    tally = tally_of(
        [
            (Outcome.PASS, 5),
            (Outcome.FAIL, 1),
            (Outcome.ERROR, None),
            (Outcome.NOT_APPLICABLE, None),
        ],
        ORDINAL,
    )
    assert tally.pass_rate().value == 0.5
    assert tally.mean() == 3
    assert tally.histogram == [1, 0, 0, 0, 1]
    assert (tally.errored, tally.not_applicable, tally.total) == (1, 1, 4)


def test_histogram_edges():
    tally = tally_of([(Outcome.PASS, s) for s in (0, 0.05, 0.049, 0.999, 1, 1.0000001)])
    assert tally.histogram[:2] == [2, 1]
    assert tally.histogram[-1] == 3
    assert len(tally.scale.edges()) == 21
    assert tally_of([], ORDINAL).scale.edges() == [1, 2, 3, 4, 5]


def test_wrong_use_is_refused():
    tally = MetricTally.of(ORDINAL)
    with pytest.raises(ValueError, match="has a score"):
        tally.add(Outcome.PASS, None)
    with pytest.raises(ValueError, match="different scales"):
        tally.merge(MetricTally.of(CONTINUOUS))
    for broken in (
        {},
        tally.as_json() | {"passed": 1.5},
        tally.as_json() | {"histogram": [1]},
    ):
        with pytest.raises(ValueError, match="tally|histogram"):
            MetricTally.from_json(broken)


@given(st.integers(0, 10_000), st.integers(0, 10_000), st.floats(0.01, 0.999))
def test_wilson_holds_the_share_and_stays_between_zero_and_one(a, b, confidence):
    passed, n = min(a, b), max(a, b)
    interval = wilson(passed, n, confidence)
    assert 0 <= interval.low <= interval.high <= 1
    if n:
        assert interval.low <= passed / n <= interval.high


def test_wilson_agrees_with_scipy():
    from scipy.stats import binomtest

    for passed, n in ((0, 10), (3, 10), (10, 10), (481, 500)):
        expected = binomtest(passed, n).proportion_ci(method="wilson")
        found = wilson(passed, n)
        assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    assert wilson(0, 0).high == 1
    with pytest.raises(ValueError, match="not a share"):
        wilson(3, 2)


def test_mean_interval_agrees_with_scipy():
    from scipy import stats

    values = [1, 2, 2, 3, 5, 4, 4]
    expected = stats.t.interval(
        0.95, len(values) - 1, statistics.fmean(values), stats.sem(values)
    )
    found = mean_interval(len(values), sum(values), sum(v * v for v in values))
    assert (found.low, found.high) == pytest.approx(expected)
    assert mean_interval(1, 3, 9) is None
    assert mean_interval(3, 9, 27).low == 3
    assert math.isclose(
        tally_of([(Outcome.PASS, v) for v in values], ORDINAL).mean_interval().low,
        expected[0],
    )
