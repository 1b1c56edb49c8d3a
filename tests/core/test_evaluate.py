from __future__ import annotations

import pytest

from assay.data.chat import ModelError
from assay.scoring.catalogue import get, load
from assay.scoring.evaluate import evaluate
from assay.scoring.outcome import Outcome
from tests.core.scripted import ScriptedModel, run, text_of, verdict

INPUTS = {
    "query": "Where was Marie Curie born?",
    "response": "Marie Curie was born in Warsaw.",
    "context": "Marie Curie was born in Warsaw.",
    "ground_truth": "She was born in Warsaw.",
}


def call(evaluator, model, inputs=INPUTS, **options):
    settings = {"thresholds": {}, "params": {}, "fence": "abc123abc123"} | options
    return run(evaluate(get(evaluator), inputs, model=model, **settings))


def by_task(request):
    """Groundedness gets 5, fluency an unusable answer, the others 3."""
    system = text_of(request, 0)
    if "rate groundedness" in system:
        return verdict(5)
    return "no verdict" if "rate its fluency" in system else verdict(3)


def test_a_composite_gives_each_members_result_under_its_own_key():
    model = ScriptedModel(by_task)
    results = {r.metric: r for r in call("qa", model)}
    assert list(results) == [m.key for m in get("qa").metrics]
    assert results["groundedness"].score == 5
    assert results["relevance"].score == 3
    assert results["fluency"].error_code == "judge_unparsable"
    assert 0 < results["f1_score"].score < 1
    assert len(model.requests) == 5 + 1


def test_a_composite_passes_thresholds_and_settings_on():
    thresholds = {"relevance": 4, "f1_score": 0.99}
    model = ScriptedModel(by_task)
    results = {
        r.metric: r
        for r in call(
            "qa", model, thresholds=thresholds, params={"tokenizer": "unicode"}
        )
    }
    assert (results["relevance"].outcome, results["relevance"].threshold) == (
        Outcome.FAIL,
        4,
    )
    assert results["f1_score"].outcome is Outcome.FAIL
    assert results["f1_score"].properties["tokenizer"] == "unicode"
    assert results["coherence"].threshold == 3


def test_a_member_without_its_input_does_not_hide_the_others():
    inputs = INPUTS | {"ground_truth": ""}
    results = {r.metric: r for r in call("qa", ScriptedModel(by_task), inputs)}
    missing = {k for k, r in results.items() if r.error_code == "missing_input"}
    assert missing == {"similarity", "f1_score"}
    assert results["groundedness"].outcome is Outcome.PASS


def test_an_error_that_meets_every_row_is_raised_after_all_calls_ended():
    def refuse(request):
        return ModelError("quota", "Used up.", permanent=True, stops_run=True)

    model = ScriptedModel(refuse)
    with pytest.raises(ModelError):
        call("qa", model)
    assert len(model.requests) == 5


def test_metrics_need_no_model():
    (result,) = call("f1_score", None)
    assert result.outcome is Outcome.PASS


def test_a_judge_without_a_model_is_an_error():
    (result,) = call("fluency", None)
    assert (result.outcome, result.error_code) == (Outcome.ERROR, "no_judge")


def test_unknown_settings_are_refused():
    (result,) = call("fluency", ScriptedModel(by_task), params={"tokenizer": "auto"})
    assert result.error_code == "invalid_parameter"


def test_repeat_is_passed_to_the_model():
    model = ScriptedModel([verdict(3)])
    call("relevance", model, repeat=2)
    assert model.requests[0].repeat == 2


def test_every_evaluator_gives_one_result_per_metric():
    for definition in load().values():
        results = call(definition.id, ScriptedModel(lambda _: verdict(4)))
        assert [r.metric for r in results] == [m.key for m in definition.metrics]
        assert all(r.outcome is not Outcome.ERROR for r in results)
