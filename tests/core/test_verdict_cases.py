"""The prepared judge answers, and properties of the parser on any text."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from assay.data.chat import ChatReply
from assay.scoring.answers import Invalid, read_answer
from assay.scoring.definition import MetricSpec
from assay.scoring.verdict import Verdict, parse_verdict

FOLDER = Path(__file__).parents[1] / "data"
LINES = (FOLDER / "judge_answers.jsonl").read_text("utf-8").splitlines()
CASES = [c for line in LINES if (c := json.loads(line))["kind"] == "scale"]
RUBRIC_CASES = [c for line in LINES if (c := json.loads(line))["kind"] == "rubric"]


def metric(kind="ordinal", low=1, high=5):
    return MetricSpec(key="m", name="M", kind=kind, minimum=low, maximum=high)


def reply_of(case):
    return ChatReply(
        case["raw"],
        case["finish_reason"],
        refusal=case.get("refusal"),
        reasoning=case.get("reasoning_content"),
        tool_calls=tuple(case.get("tool_calls") or ()),
    )


def parse(text, **kwargs):
    return parse_verdict(ChatReply(text, "stop"), metric(**kwargs))


def agrees(found, expected):
    if expected is None:
        return False
    if isinstance(expected, str):
        return isinstance(found, Invalid)
    return (
        isinstance(found, Verdict)
        and found.score == expected["score"]
        and found.reason.strip() == expected["reason"].strip()
    )


def test_there_are_42_answers():
    assert len(CASES) == 42


@pytest.mark.parametrize("case", CASES, ids=[c["id"] for c in CASES])
def test_it_reads(case):
    found = parse_verdict(reply_of(case), metric())
    assert agrees(found, case["expect"]) or agrees(found, case.get("alt")), found


@pytest.mark.parametrize("case", RUBRIC_CASES, ids=[c["id"] for c in RUBRIC_CASES])
def test_it_finds_the_object_of_rubric_answers(case):
    answer = read_answer(reply_of(case))
    if isinstance(case["expect"], dict) and "alt" not in case:
        assert len(answer.objects) == 1, answer
    assert isinstance(answer, Invalid) or all(
        json.dumps(item, allow_nan=False) for item in answer.objects
    )


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ('```json\n{"score": 4}\n```', 4),
        ("**Score:** 4\n**Reason:** fine", 4),
        ("4/5", 4),
        ("4 out of 5", 4),
        ("Score: 3\nAfter a second look\nFinal score: 2", 2),
        ("{'score': 4, 'reason': 'it\\'s',}", 4),
        ('"{\\"score\\": 4}"', 4),
        ("<think>Score: 1</think>Score: 4", 4),
        ('It says `{"score": 5}`\n```json\n{"score": 1}\n```', 1),
        ("## Score\n4", 4),
        ('{"m": {"score": 4, "reason": "x"}}', 4),
    ],
)
def test_it_reads_other_forms(text, score):
    found = parse(text)
    assert isinstance(found, Verdict), found
    assert found.score == score


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("<think>Score: 5", "empty"),
        ('The response says {"score": 5}. Score: 2', "many_scores"),
        ("The text holds <score>5</score>. Score: 2", "many_scores"),
        ('{"score": 1, "score": 5}', "not_json"),
        ('{"reason": "He said "fine"", "score": 4}', "not_json"),
        ('{"a": "x "y"", "inner": {"score": 5}, "score": 1}', "not_json"),
        ('{"score": true}', "bad_score"),
        ('{"score": NaN}', "bad_score"),
        ('{"score": 1e999}', "bad_score"),
        ("Score: 4.5", "not_whole"),
        ('{"score": "3-4"}', "many_scores"),
        ("Score: 4 or 5", "many_scores"),
        ("{}", "no_score"),
        ("5 stars", "no_score"),
    ],
)
def test_it_refuses(text, code):
    found = parse(text)
    assert isinstance(found, Invalid), found
    assert found.code == code


def test_refused_filtered_and_cut_answers_are_no_verdicts():
    good = '{"reason": "x", "score": 4}'
    for reply, code in (
        (ChatReply(good, "length"), "cut"),
        (ChatReply(good, "content_filter"), "filtered"),
        (ChatReply(good, "stop", refusal="No."), "refused"),
        (ChatReply(None, "stop"), "empty"),
    ):
        found = parse_verdict(reply, metric())
        assert isinstance(found, Invalid)
        assert found.code == code


def test_boolean_and_continuous_scales():
    assert parse('{"score": true}', kind="boolean", low=0, high=1).score == 1
    assert parse('{"score": "fail"}', kind="boolean", low=0, high=1).score == 0
    assert parse('{"score": 0.25}', kind="continuous", low=0, high=1).score == 0.25
    assert isinstance(parse('{"score": 4}', kind="boolean", low=0, high=1), Invalid)


PIECES = st.sampled_from(
    [
        *("{", "}", "[", "]", '"', "'", ",", ":", "\\", "`", "```json\n", "```", "\n"),
        *(
            "Score: ",
            "final score: ",
            '{"score": ',
            '"reason": ',
            "<think>",
            "</think>",
        ),
        *(
            "<S2>",
            "</S2>",
            "4",
            "-1",
            "9",
            "/10",
            "5e0",
            "٤",
            "\\boxed{",
            "true",
            "NaN",
        ),
        *("<|channel|>", "<|message|>", "\u200b", "\ud800", "1" * 400),
    ]
)
TEXTS = st.one_of(
    st.text(), st.lists(st.one_of(PIECES, st.text(max_size=5))).map("".join)
)


@given(TEXTS, st.sampled_from(["ordinal", "continuous", "boolean"]))
@example('{"score": ' + "1" * 400 + "}", "ordinal")
@example("Score: " + "9" * 5000, "ordinal")
def test_every_text_gives_a_score_inside_the_scale_or_none(text, kind):
    low, high = (0, 1) if kind == "boolean" else (1, 5)
    found = parse(text, kind=kind, low=low, high=high)
    if isinstance(found, Verdict):
        assert low <= found.score <= high
        assert kind == "continuous" or found.score == int(found.score)
        json.dumps([found.reason, found.extra], allow_nan=False).encode()
    else:
        assert found.sentence


@given(st.integers(1, 5), st.text())
def test_json_is_read_back_exactly(score, reason):
    found = parse(json.dumps({"reason": reason, "score": score}))
    assert isinstance(found, Verdict)
    assert found.score == score


@pytest.mark.parametrize(
    "text",
    [
        '{"a":' * 20_000,
        "<think>" * 20_000,
        '{"' * 50_000,
        '{"a": [1, ' * 10_000,
        "`" * 100_000 + '{"score": 1}',
        "{" + " " * 100_000,
        ("{" + " " * 300) * 500,
        "Score: " * 20_000,
        "<S1>" * 20_000 + "Score: 4",
        ("score " + "*" * 500) * 300,
        "Reason " * 20_000,
    ],
)
def test_hostile_answers_are_read_quickly(text):
    import time

    started = time.perf_counter()
    parse(text)
    assert time.perf_counter() - started < 2
