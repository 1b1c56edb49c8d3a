"""Matching evaluator inputs with columns, by name.

The order: exact name, the same name without case and separators, known synonyms,
then similar spelling. A column serves one input of an evaluator only.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from rapidfuzz import fuzz

from assay.data.jsonx import JSON
from assay.data.paths import MISSING, is_blank, resolve
from assay.scoring.definition import EvaluatorDefinition

SIMILAR = 86.0

SYNONYMS: Mapping[str, tuple[str, ...]] = {
    "query": (
        "question", "prompt", "input", "user_input", "user_query", "instruction",
        "user_message", "request", "problem", "message", "pergunta", "utterance",
    ),
    "response": (
        "answer", "output", "completion", "prediction", "output_text", "reply",
        "model_output", "actual_output", "generated_answer", "assistant_response",
        "generation", "result", "model_answer", "resposta", "candidate",
    ),
    "ground_truth": (
        "truth", "expected", "reference", "expected_output", "expected_answer",
        "golden", "gold", "target", "ideal", "reference_answer", "correct_answer",
        "expected_response", "label", "groundtruth", "golden_answer",
    ),
    "context": (
        "contexts", "retrieved_contexts", "retrieval_context", "passages", "passage",
        "documents", "context_passages", "source", "sources", "knowledge", "evidence",
        "retrieved_documents", "chunks", "contexto",
    ),
    "image": ("image_url", "images", "picture", "photo", "img", "screenshot"),
    "audio": ("audio_data", "audio_url", "sound", "clip", "recording", "voice"),
    "tool_calls": ("tools_called", "actual_tool_calls", "function_calls"),
    "tool_definitions": ("tools", "functions", "available_tools"),
    "messages": ("conversation", "chat", "dialog", "dialogue", "transcript"),
}  # fmt: skip

GENERATED: Mapping[str, str] = {
    "response": "sample.output_text",
    "tool_calls": "sample.tool_calls",
}
"""What a target gives always wins: a stored response is not what is evaluated."""


def fold(name: str) -> str:
    """A name without case, blanks, dots, dashes and underscores."""
    return re.sub(r"[\W_]+", "", name).casefold()


def _leaf(path: str) -> str:
    return path.partition(".")[2]


def _last(path: str) -> str:
    return path.rpartition(".")[2]


def match_input(name: str, paths: Sequence[str]) -> str | None:
    """The best of `paths` for the input `name`, or None.

    Columns come before nested members: a member is looked at by its last name, after
    every column failed the same test.
    """
    tops = [p for p in paths if p.count(".") == 1]
    nested = [p for p in paths if p.count(".") > 1]
    folded = fold(name)
    synonyms = [fold(s) for s in SYNONYMS.get(name, ())]
    for group, spelling in ((tops, _leaf), (nested, _last)):
        for path in group:
            if spelling(path) == name:
                return path
        for path in group:
            if fold(spelling(path)) == folded:
                return path
        for synonym in synonyms:
            for path in group:
                if fold(spelling(path)) == synonym:
                    return path
    return _similar(folded, tops)


def _similar(folded: str, paths: Sequence[str]) -> str | None:
    best, best_score = None, SIMILAR
    for path in paths:
        score = fuzz.ratio(folded, fold(_leaf(path)))
        if score >= best_score:
            best, best_score = path, score
    return best


def auto_map(
    definition: EvaluatorDefinition, paths: Sequence[str], *, generates: bool
) -> dict[str, str | None]:
    """A path or None for each input. `generates`: the target makes the response."""
    mapping: dict[str, str | None] = {}
    free = [path for path in paths if path.startswith("item.")]
    for name in definition.inputs:
        generated = GENERATED.get(name) if generates else None
        if generated and generated in paths:
            mapping[name] = generated
            continue
        found = match_input(name, free)
        mapping[name] = found
        if found:
            free.remove(found)
    return mapping


def inputs_of(
    mapping: Mapping[str, str | None], scope: Mapping[str, JSON]
) -> dict[str, JSON]:
    """The values that an evaluator receives; absent and blank ones are left out."""
    inputs: dict[str, JSON] = {}
    for name, path in mapping.items():
        if not path:
            continue
        value = resolve(path, scope)
        if value is not MISSING and not is_blank(value):
            inputs[name] = value
    return inputs
