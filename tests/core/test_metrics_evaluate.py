from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.scoring.catalogue import get
from assay.scoring.evaluate import evaluate_metric
from assay.scoring.metrics import FUNCTIONS, rouge
from assay.scoring.metrics.meteor import meteor_score
from assay.scoring.outcome import Outcome

CURIE = "According to wikipedia, Marie Curie was not born in Paris but in Warsaw."


def scores(evaluator, response, truth, *, thresholds=None, **params):
    inputs = {"response": response, "ground_truth": truth}
    return evaluate_metric(
        get(evaluator), inputs, thresholds=thresholds or {}, params=params
    )


def test_f1_gives_the_score_of_the_seed_document():
    (result,) = scores("f1_score", CURIE, "Marie Curie was born in Warsaw.")
    assert result.score == pytest.approx(0.631578947368421, abs=1e-15)
    assert result.outcome is Outcome.PASS
    assert result.threshold == 0.5
    assert result.properties["tokenizer"] == "foundry"


def test_a_single_letter_answer_equals_itself():
    assert scores("f1_score", "A", "A")[0].score == 1
    assert scores("f1_score", "A", "A", tokenizer="foundry")[0].score == 0


@pytest.mark.parametrize(
    "text", ["你好世界", "Привет, мир", "안녕 세상", "مرحبا", "👍"]
)
@pytest.mark.parametrize("evaluator", ["f1_score", "gleu_score", "rouge_score"])
def test_equal_texts_of_any_script_score_one(evaluator, text):
    params = {"rouge_type": "rouge1"} if evaluator == "rouge_score" else {}
    assert scores(evaluator, text, text, **params)[0].score == pytest.approx(1)


def test_rouge_gives_f1_as_primary_with_precision_and_recall_beside():
    truth = "Marie Curie was born in Warsaw."
    f1, precision, recall = scores("rouge_score", CURIE, truth, rouge_type="rouge1")
    assert (f1.metric, precision.metric, recall.metric) == (
        "rouge",
        "rouge_precision",
        "rouge_recall",
    )
    assert precision.score == pytest.approx(6 / 13)
    assert (precision.outcome, recall.outcome) == (Outcome.FAIL, Outcome.PASS)
    assert [m.primary for m in get("rouge_score").metrics] == [True, False, False]


def test_the_threshold_decides_and_none_only_reports():
    (strict,) = scores("f1_score", "a b c", "b", thresholds={"f1_score": 0.9})
    assert (strict.outcome, strict.threshold) == (Outcome.FAIL, 0.9)
    (free,) = scores("f1_score", "x", "y", thresholds={"f1_score": None})
    assert (free.outcome, free.threshold, free.score) == (Outcome.PASS, None, 0)


@pytest.mark.parametrize(
    "empty", [None, "", "  \n", [], [{"role": "user", "content": "q"}]]
)
def test_an_empty_input_is_an_error_that_names_it(empty):
    for evaluator in FUNCTIONS:
        for result in scores(evaluator, empty, "truth"):
            assert result.outcome is Outcome.ERROR
            assert result.error_code == "missing_input"
            assert "response" in result.reason
            assert result.score is None


def test_numbers_and_booleans_are_compared_as_their_text():
    assert scores("f1_score", 42, "42")[0].score == 1
    assert scores("f1_score", True, "true")[0].score == 1
    assert scores("f1_score", "1.5", 1.5)[0].score == 1


def test_of_messages_the_last_answer_is_compared():
    talk = [
        {"role": "assistant", "content": "Hello"},
        {"role": "user", "content": "Capital?"},
        {"role": "assistant", "content": [{"type": "text", "text": "Paris"}]},
    ]
    assert scores("f1_score", talk, "Paris")[0].score == 1


@pytest.mark.parametrize(
    "params", [{"tokenizer": "nltk"}, {"colour": 1}, {"alpha": 2}, {"alpha": True}]
)
def test_a_wrong_setting_is_an_error(params):
    (result,) = scores("meteor_score", "a b", "a b", **params)
    assert result.error_code == "invalid_parameter"


@given(st.text(max_size=60), st.text(max_size=60))
def test_scores_stay_between_zero_and_one(response, truth):
    for evaluator in FUNCTIONS:
        for result in scores(evaluator, response, truth):
            if result.outcome is not Outcome.ERROR:
                assert 0 <= result.score <= 1 + 1e-12


@given(st.lists(st.sampled_from("abcd")), st.lists(st.sampled_from("abcd")))
def test_the_longest_common_subsequence_is_the_one_of_the_textbook(first, second):
    table = [[0] * (len(second) + 1) for _ in range(len(first) + 1)]
    for i, a in enumerate(first, 1):
        for j, b in enumerate(second, 1):
            table[i][j] = (
                table[i - 1][j - 1] + 1
                if a == b
                else max(table[i - 1][j], table[i][j - 1])
            )
    assert rouge.common_subsequence(first, second) == table[-1][-1]


def test_long_texts_take_seconds_not_minutes():
    first = [f"w{i * 7 % 997}" for i in range(20_000)]
    second = [f"w{i * 11 % 997}" for i in range(20_000)]
    started = time.perf_counter()
    rouge.rouge_overlap(first, second, "rougeL")
    meteor_score(first, second)
    scores("bleu_score", " ".join(first) + ".", ". ".join(second))
    assert time.perf_counter() - started < 8
