"""The reference scores, recomputed through the public entry."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assay.data import tokenise
from assay.scoring.catalogue import get
from assay.scoring.evaluate import evaluate_metric
from assay.scoring.metrics import bleu, gleu, meteor, overlap, rouge

CASES = json.loads(
    (Path(__file__).parents[1] / "data" / "nlp-golden.json").read_text("utf-8")
)


def direct_score(case: dict[str, Any]) -> float:
    metric, params = case["metric"], dict(case["params"])
    component = params.pop("component", "f1")
    foundry = {"f1_score": tokenise.f1_tokens, "rouge_score": tokenise.rouge_tokens}
    cut = foundry.get(metric, tokenise.word_tokens)
    own, truth = cut(case["response"]), cut(case["ground_truth"])
    if metric == "rouge_score":
        return getattr(rouge.rouge_overlap(own, truth, params["rouge_type"]), component)
    return {
        "f1_score": lambda: overlap.token_overlap(own, truth).f1,
        "bleu_score": lambda: bleu.sentence_bleu(own, truth),
        "gleu_score": lambda: gleu.sentence_gleu(own, truth),
        "meteor_score": lambda: meteor.meteor_score(own, truth, **params),
    }[metric]()


def test_there_are_575_reference_scores():
    assert len(CASES) == 575


@pytest.mark.parametrize("case", sorted({c["case"] for c in CASES}))
def test_it_reproduces_the_reference_scores_of(case):
    for row in (c for c in CASES if c["case"] == case):
        assert direct_score(row) == pytest.approx(row["score"], abs=1e-9), row


def test_the_public_entry_gives_the_reference_scores():
    keys = {"f1": "rouge", "precision": "rouge_precision", "recall": "rouge_recall"}
    compared = 0
    for row in CASES:
        if not row["response"].strip() or not row["ground_truth"].strip():
            continue
        params = dict(row["params"]) | {"tokenizer": "foundry"}
        component = params.pop("component", None)
        key = keys[component] if component else row["metric"]
        inputs = {"response": row["response"], "ground_truth": row["ground_truth"]}
        results = evaluate_metric(
            get(row["metric"]), inputs, thresholds={}, params=params
        )
        (result,) = [r for r in results if r.metric == key]
        assert result.score == pytest.approx(row["score"], abs=1e-9), row
        assert result.properties["tokenizer"] == "foundry"
        compared += 1
    assert compared > 500
