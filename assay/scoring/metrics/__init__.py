"""Arithmetic evaluators: one registry from function names to computations.

All compare `response` with `ground_truth`, take the setting `tokenizer`, and say in
the properties of each result which tokeniser was used and how many tokens it gave.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias, cast

from assay.data.jsonx import JSON
from assay.data.tokenise import (
    TokenizerName,
    TokenPair,
    Tokens,
    f1_tokens,
    rouge_tokens,
    tokenise_pair,
    word_tokens,
)
from assay.scoring.definition import EvaluatorDefinition
from assay.scoring.inputs import input_text
from assay.scoring.metrics.bleu import sentence_bleu
from assay.scoring.metrics.gleu import sentence_gleu
from assay.scoring.metrics.meteor import meteor_score
from assay.scoring.metrics.overlap import token_overlap
from assay.scoring.metrics.rouge import rouge_overlap
from assay.scoring.outcome import ResultValue
from assay.scoring.params import ParamError, ParamValue, resolve_params
from assay.scoring.results import (
    INVALID_PARAMETER,
    MISSING_INPUT,
    Thresholds,
    errors,
    missing_inputs,
    missing_sentence,
    scored,
)

Params: TypeAlias = Mapping[str, ParamValue]
Compute: TypeAlias = Callable[[TokenPair, Params], dict[str, float]]


def _f1(pair: TokenPair, params: Params) -> dict[str, float]:
    return {"f1_score": token_overlap(pair.response, pair.truth).f1}


def _bleu(pair: TokenPair, params: Params) -> dict[str, float]:
    return {"bleu_score": sentence_bleu(pair.response, pair.truth)}


def _gleu(pair: TokenPair, params: Params) -> dict[str, float]:
    return {"gleu_score": sentence_gleu(pair.response, pair.truth)}


def _meteor(pair: TokenPair, params: Params) -> dict[str, float]:
    weights = {key: float(params[key]) for key in ("alpha", "beta", "gamma")}
    return {"meteor_score": meteor_score(pair.response, pair.truth, **weights)}


def _rouge(pair: TokenPair, params: Params) -> dict[str, float]:
    overlap = rouge_overlap(pair.response, pair.truth, str(params["rouge_type"]))
    return {
        "rouge": overlap.f1,
        "rouge_precision": overlap.precision,
        "rouge_recall": overlap.recall,
    }


FUNCTIONS: Mapping[str, tuple[Callable[[str], Tokens], Compute]] = {
    "f1_score": (f1_tokens, _f1),
    "bleu_score": (word_tokens, _bleu),
    "gleu_score": (word_tokens, _gleu),
    "meteor_score": (word_tokens, _meteor),
    "rouge_score": (rouge_tokens, _rouge),
}
"""Each function's compatible tokeniser, and what it computes from the tokens."""


def evaluate(
    function: str,
    inputs: Mapping[str, JSON],
    definition: EvaluatorDefinition,
    thresholds: Thresholds,
    params: Mapping[str, JSON],
) -> tuple[ResultValue, ...]:
    """One result per metric of `definition`, in its order.

    A missing or empty input and a wrong setting give errors (`missing_input`,
    `invalid_parameter`), not scores. Raises `KeyError` for an unknown `function`.
    """
    tokens_of, compute = FUNCTIONS[function]
    texts: dict[str, JSON] = {
        name: input_text(inputs.get(name), name=name) for name in definition.inputs
    }
    missing = missing_inputs(definition, texts)
    if missing:
        sentence = missing_sentence(missing)
        return errors(definition, thresholds, MISSING_INPUT, sentence)
    try:
        settings = resolve_params(definition, params)
    except ParamError as problem:
        return errors(definition, thresholds, INVALID_PARAMETER, str(problem))
    pair = tokenise_pair(
        str(texts["response"]),
        str(texts["ground_truth"]),
        tokens_of,
        cast("TokenizerName", settings.get("tokenizer", "auto")),
    )
    scores = compute(pair, settings)
    properties: dict[str, JSON] = {
        **settings,
        "tokenizer": pair.used,
        "response_tokens": len(pair.response),
        "ground_truth_tokens": len(pair.truth),
    }
    return tuple(
        scored(metric, scores[metric.key], thresholds, properties=dict(properties))
        for metric in definition.metrics
    )
