"""The built-in evaluators: one document each, TOML front matter and prompt.

    +++
    id = "coherence"
    ...
    +++
    ### variant: query, response
    Instructions to the judge ...

User-made evaluators are written in the same form.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, get_args

from pydantic import ValidationError

from assay.scoring.definition import Category, EvaluatorDefinition, PromptVariant
from assay.scoring.metrics import FUNCTIONS

FOLDER = Path(__file__).parent
Known = Mapping[str, EvaluatorDefinition]

_FRONT = re.compile(
    r"\A\+\+\+[ \t]*\n(.*?)^\+\+\+[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE
)
_VARIANT = re.compile(r"^### variant:[ \t]*(.*)$", re.MULTILINE)
_BODY_FIELDS = frozenset({"variants"})


class DefinitionError(ValueError):
    """A document that is no evaluator: where, which field, and what is wrong."""

    def __init__(self, source: str, where: str, problem: str) -> None:
        super().__init__(f"{source}: {where}: {problem}")
        self.source = source
        self.field = where
        self.problem = problem


@cache
def load() -> Known:
    """All built-in evaluators by id, ordered by category, then name."""
    documents = [
        (path.name, path.read_text(encoding="utf-8"))
        for path in sorted(FOLDER.glob("*.md"))
    ]
    return MappingProxyType(read_all(documents))


def read_all(documents: Iterable[tuple[str, str]]) -> dict[str, EvaluatorDefinition]:
    """The evaluators of several documents, given as (source, text).

    Composites are read last, because they take their metrics from their members.
    """
    found: dict[str, EvaluatorDefinition] = {}
    ordered = sorted(documents, key=lambda d: 'kind = "composite"' in d[1])
    for source, text in ordered:
        definition = parse(text, source=source, known=found)
        if definition.id in found:
            raise DefinitionError(source, "id", f"{definition.id} is already taken")
        found[definition.id] = definition
    rank = {category: place for place, category in enumerate(get_args(Category))}
    by_place = sorted(found.values(), key=lambda d: (rank[d.category], d.name))
    return {definition.id: definition for definition in by_place}


def get(evaluator_id: str) -> EvaluatorDefinition:
    """The built-in evaluator `evaluator_id`. Raises `KeyError`."""
    return load()[evaluator_id]


def parse(
    text: str, *, source: str = "definition", known: Known | None = None
) -> EvaluatorDefinition:
    """The evaluator that a document describes.

    `known` are the evaluators that a composite may have as members. Raises
    `DefinitionError`, which names the document and the field.
    """
    fields, body = _split(text, source)
    input_sets = fields.get("input_sets")
    first = input_sets[0] if isinstance(input_sets, list) and input_sets else []
    variants = _variants(body, first, source)
    if fields.get("kind") == "composite":
        fields |= _from_members(fields, known or {}, source)
    try:
        definition = EvaluatorDefinition.model_validate(
            {**fields, "variants": variants}
        )
    except ValidationError as error:
        first_error = error.errors()[0]
        where = ".".join(str(part) for part in first_error["loc"]) or "definition"
        raise DefinitionError(source, where, first_error["msg"]) from error
    for where, problem in problems(definition):
        raise DefinitionError(source, where, problem)
    return definition


def _split(text: str, source: str) -> tuple[dict[str, Any], str]:
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    front = _FRONT.match(text)
    if front is None:
        problem = "the document does not begin with +++ lines around TOML"
        raise DefinitionError(source, "front matter", problem)
    try:
        fields = tomllib.loads(front.group(1))
    except tomllib.TOMLDecodeError as error:
        raise DefinitionError(source, "front matter", str(error)) from error
    for field in _BODY_FIELDS & set(fields):
        raise DefinitionError(source, field, "is written below the front matter")
    return fields, text[front.end() :]


def _variants(body: str, first: list[str], source: str) -> list[PromptVariant]:
    """The prompts below the front matter; without headings there is only one."""
    pieces = _VARIANT.split(body)
    intro = pieces[0].strip()
    if len(pieces) == 1:
        whole = PromptVariant(inputs=tuple(map(str, first)), instructions=intro)
        return [whole] if intro else []
    if intro:
        problem = "text stands before the first ### variant line"
        raise DefinitionError(source, "variants", problem)
    return [
        PromptVariant(
            inputs=tuple(name.strip() for name in names.split(",") if name.strip()),
            instructions=instructions.strip(),
        )
        for names, instructions in zip(pieces[1::2], pieces[2::2], strict=True)
    ]


def _from_members(
    fields: Mapping[str, Any], known: Known, source: str
) -> dict[str, Any]:
    """A composite's metrics, settings and media are those of its members."""
    names = fields.get("members") or []
    for name in names:
        if name not in known:
            raise DefinitionError(source, "members", f"{name} is not an evaluator")
    for field in {"metrics", "params", "media"} & set(fields):
        raise DefinitionError(source, field, "is taken from the members")
    members = [known[name] for name in names]
    params = {spec.key: spec for member in members for spec in member.params}
    media = dict.fromkeys(kind for member in members for kind in member.media)
    return {
        "metrics": [metric for member in members for metric in member.metrics],
        "params": list(params.values()),
        "media": list(media),
    }


def problems(definition: EvaluatorDefinition) -> Iterator[tuple[str, str]]:
    """What is wrong with a well-formed definition: pairs of field and sentence."""
    keys = [metric.key for metric in definition.metrics]
    if not keys:
        yield "metrics", "at least one metric is needed"
    if len(set(keys)) < len(keys):
        yield "metrics", "two metrics have the same key"
    for metric in definition.metrics:
        if not metric.minimum < metric.maximum:
            yield "metrics", f"{metric.key} has no range from minimum to maximum"
        if metric.threshold is not None and not (
            metric.minimum <= metric.threshold <= metric.maximum
        ):
            yield "metrics", f"the threshold of {metric.key} is outside its range"
    if not definition.input_sets or not all(definition.input_sets):
        yield "input_sets", "at least one set of inputs is needed"
    yield from _problems_of_kind(definition)


def _problems_of_kind(definition: EvaluatorDefinition) -> Iterator[tuple[str, str]]:
    if definition.kind == "metric" and definition.function not in FUNCTIONS:
        yield "function", f"must be one of {', '.join(FUNCTIONS)}"
    if definition.kind == "composite" and not definition.members:
        yield "members", "a composite needs members"
    if definition.kind != "judge":
        if definition.variants:
            yield "variants", "only a judge evaluator has a prompt"
        return
    if len(definition.metrics) > 1:
        yield "metrics", "a judge evaluator gives one metric"
    if not definition.variants:
        yield "variants", "a judge evaluator needs a prompt"
    for variant in definition.variants:
        if not variant.instructions:
            yield "variants", f"the prompt for {', '.join(variant.inputs)} is empty"
        unknown = set(variant.inputs) - set(definition.inputs)
        if unknown:
            yield "variants", f"{', '.join(sorted(unknown))} is not among the inputs"
    for names in definition.input_sets:
        if not any(set(v.inputs) <= set(names) for v in definition.variants):
            yield "variants", f"no prompt fits the inputs {', '.join(names)}"
