"""Charts: what is drawn, what is said, and that equal data give equal bytes."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest

from workspace import charts, minicharts

FIVE = [("1", 6), ("2", 10), ("3", 24), ("4", 77), ("5", 117)]
TEN = [
    (f"{i / 10:.1f}–{(i + 1) / 10:.1f}", n)
    for i, n in enumerate((0, 0, 2, 3, 6, 12, 22, 19, 48, 122))
]


def parse(svg):
    return ET.fromstring(svg)  # noqa: S314 - our own output


def all_charts():
    return {
        "ordinal": charts.histogram(FIVE, label="Coherence", links=list("abcde")),
        "continuous": charts.histogram(
            TEN, label="quality", kind="continuous", threshold=0.5
        ),
        "likert": charts.likert([7, 3, 22, 56, 146], label="intent"),
        "stacked": charts.stacked_bar(188, 46, 6),
        "interval": charts.interval_bar(
            0.803, 0.748, 0.849, label="Rows passed", minimum=0.5, threshold=0.75
        ),
        "bars": minicharts.bars([(0, 1, 3), (1, 2, 0)], "values"),
        "sparkline": minicharts.sparkline([1, 2, 3, 2.5]),
        "meter": minicharts.meter(0.35, 0, 1, 0.5),
        "fill": minicharts.fill_bar(14, 46),
        "waveform": minicharts.waveform([0, 50, 100]),
    }


@pytest.mark.parametrize("name", all_charts())
def test_it_is_well_formed_and_carries_no_style_or_script(name):
    svg = all_charts()[name]
    parse(svg)
    assert not re.search(r"style|<script|\son\w+=", svg)


@pytest.mark.parametrize("name", all_charts())
def test_equal_data_give_equal_bytes(name):
    assert all_charts()[name] == all_charts()[name]


@pytest.mark.parametrize("name", all_charts())
def test_it_has_a_name_or_is_hidden(name):
    root = parse(all_charts()[name])
    named = root.get("role") in ("img", "group") and root.get("aria-label")
    assert named or root.get("aria-hidden") == "true"


def test_ordinal_bars_take_the_score_colours_and_their_height():
    bars = parse(charts.histogram(FIVE, label="x")).findall("rect")
    assert [bar.get("class") for bar in bars] == ["s1", "s2", "s3", "s4", "s5"]
    assert [float(bar.get("height")) for bar in bars] == [1.74, 2.91, 6.97, 22.38, 34]


def test_a_scale_where_less_is_better_turns_the_colours_round():
    bars = parse(charts.histogram(FIVE, label="x", direction="decrease")).findall(
        "rect"
    )
    assert [bar.get("class") for bar in bars] == ["s5", "s4", "s3", "s2", "s1"]


def test_a_rare_score_stays_visible_and_an_absent_one_has_no_bar():
    bars = parse(charts.histogram(TEN, label="x", kind="continuous")).findall("rect")
    assert [float(bar.get("height")) for bar in bars[:3]] == [0, 0, charts.LEAST_BAR]


def test_bins_that_fail_the_threshold_are_marked():
    svg = charts.histogram(TEN, label="x", kind="continuous", threshold=0.5)
    classes = [bar.get("class") for bar in parse(svg).findall("rect")]
    assert classes == ["bar bad"] * 5 + ["bar"] * 5
    assert 'x="50%" y="48" text-anchor="middle">0.50<' in svg


def test_bars_with_rows_are_links_with_names():
    svg = charts.histogram([("1", 0), ("2", 3)], label="x", links=["?s=1", "?s=2"])
    links = parse(svg).findall("a")
    assert [(a.get("href"), a.get("aria-label")) for a in links] == [
        ("?s=2", "3 rows with score 2")
    ]
    assert parse(svg).get("role") == "group"


def test_the_sentence_tells_all_counts():
    label = parse(charts.histogram(FIVE, label="Coherence")).get("aria-label")
    assert label == "Coherence: 1: 6, 2: 10, 3: 24, 4: 77, 5: 117"


def test_names_are_escaped():
    svg = charts.histogram([("<b>", 1)], label='"><script>', links=['"x'])
    parse(svg)
    assert "<script" not in svg
    assert "<b>" not in svg


def test_an_empty_histogram_draws_nothing():
    assert charts.histogram([], label="x") == ""


def test_a_segment_shows_its_count_only_where_it_fits():
    texts = [
        t.text
        for t in parse(charts.likert([7, 3, 22, 56, 146], label="x")).findall("text")
    ]
    assert texts == ["22", "56", "146"]


def test_a_dimension_without_scores_says_so():
    assert "no scores" in charts.likert([0, 0, 0, 0, 0], label="x")


def test_outcomes_fill_the_whole_width():
    parts = parse(charts.stacked_bar(188, 46, 6)).findall("rect")
    last = parts[-1]
    end = float(last.get("x").rstrip("%")) + float(last.get("width").rstrip("%"))
    assert end == pytest.approx(100, abs=0.01)
    assert [part.get("class") for part in parts] == [
        "fill-pass",
        "fill-fail",
        "fill-warn",
    ]


def test_outcomes_are_said_in_words():
    assert charts.outcome_sentence(188, 46, 6) == "188 passed, 46 failed, 6 errors"
    assert (
        charts.outcome_sentence(1, 0, 1, 2)
        == "1 passed, 0 failed, 1 error, 2 not applicable"
    )


def test_no_rows_leave_an_empty_track():
    assert "track" in charts.stacked_bar(0, 0)


def test_a_small_bar_can_be_hidden_beside_its_numbers():
    assert (
        parse(charts.stacked_bar(1, 1, width=52, label=False)).get("aria-hidden")
        == "true"
    )


@pytest.mark.parametrize(
    ("value", "direction", "css"),
    [
        (0.35, "increase", "fill-fail"),
        (0.5, "increase", "fill-pass"),
        (3, "decrease", "fill-pass"),
        (4, "decrease", "fill-fail"),
    ],
)
def test_the_meter_is_coloured_by_the_threshold(value, direction, css):
    threshold, maximum = (0.5, 1) if direction == "increase" else (3, 7)
    svg = minicharts.meter(value, 0, maximum, threshold, direction=direction)
    assert css in svg


def test_the_verdict_of_the_run_goes_before_the_threshold():
    assert "fill-fail" in minicharts.meter(0.9, 0, 1, 0.5, passed=False)


def test_values_outside_the_scale_stay_inside_the_bar():
    assert 'width="64"' in minicharts.meter(9, 0, 1)
    assert charts.part(-1, 0, 1) == 0
    assert charts.part(1, 1, 1) == 0


def test_a_flat_course_lies_in_the_middle():
    assert 'points="3,11 69,11"' in minicharts.sparkline([2, 2])
    assert minicharts.sparkline([]) == ""


@pytest.mark.parametrize(
    ("levels", "bars"), [([], 4), ([5], 4), (list(range(100)), 10)]
)
def test_a_waveform_has_at_most_the_bars_asked_for(levels, bars):
    assert len(minicharts.resample(levels, bars)) <= bars


def test_resampling_keeps_the_loudest():
    assert minicharts.resample([1, 9, 2, 3], 2) == [9, 3]
