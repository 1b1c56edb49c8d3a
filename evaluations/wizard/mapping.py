"""Step 4: which value each evaluator input takes."""

from __future__ import annotations

from typing import Any

from django.http import QueryDict
from django.utils.translation import gettext as _

from assay.data.jsonx import JSONObject
from assay.data.paths import MISSING
from assay.running.spec import CriterionSpec, EvaluationSpec, Problem, unassigned
from assay.scoring.definition import EvaluatorDefinition
from evaluations.drafts import with_mapping
from evaluations.surroundings import View
from evaluations.wizard.criteria import SHORT
from evaluations.wizard.values import at, short
from workspace.sentences import say


def read(spec: EvaluationSpec, post: QueryDict) -> EvaluationSpec:
    """The posted mapping; `copy=<evaluator>:<input>` sets that path everywhere."""
    posted: dict[str, dict[str, str | None]] = {}
    for criterion in spec.criteria:
        for name in criterion.mapping:
            field = f"map-{criterion.evaluator}-{name}"
            if field in post:
                paths = posted.setdefault(criterion.evaluator, {})
                paths[name] = post.get(field) or None
    spec = with_mapping(spec, posted)
    source, _colon, name = post.get("copy", "").partition(":")
    path = next(
        (c.mapping.get(name) for c in spec.criteria if c.evaluator == source), None
    )
    if name and path:
        everywhere = {
            c.evaluator: {name: path} for c in spec.criteria if name in c.mapping
        }
        spec = with_mapping(spec, everywhere)
    return spec


def context(
    spec: EvaluationSpec,
    view: View,
    found: list[Problem],
    *,
    item: JSONObject,
    sample: JSONObject,
) -> dict[str, Any]:
    """A group per evaluator, a row per input, with the value in the sample row."""
    wrong = {p.field: say(p.sentence) for p in found if p.step == "mapping"}
    by_name: dict[str, set[str | None]] = {}
    for criterion in spec.criteria:
        for name, path in criterion.mapping.items():
            by_name.setdefault(name, set()).add(path)
    groups = [
        _group(criterion, view, wrong, by_name, item=item, sample=sample)
        for criterion in spec.criteria
        if criterion.evaluator in view.around.catalogue
    ]
    inputs = [row for group in groups for row in group["rows"]]
    return {
        "mapping": groups,
        "assigned": sum(1 for row in inputs if row["path"]),
        "inputs": len(inputs),
        "generated_paths": [p for p in view.around.paths if p.startswith("sample.")],
        "column_paths": [p for p in view.around.paths if p.startswith("item.")],
    }


def _group(
    criterion: CriterionSpec,
    view: View,
    wrong: dict[str, str],
    by_name: dict[str, set[str | None]],
    *,
    item: JSONObject,
    sample: JSONObject,
) -> dict[str, Any]:
    definition = view.around.catalogue[criterion.evaluator]
    lacking = unassigned(definition, criterion.mapping)
    rows = []
    for name in definition.inputs:
        path = criterion.mapping.get(name)
        value = at(path, item, sample)
        where = f"map-{criterion.evaluator}-{name}"
        rows.append(
            {
                "name": name,
                "id": where,
                "required": name in definition.always_required,
                "path": path,
                "known": path is None or path in view.around.paths,
                "missing": name in lacking,
                "error": wrong.get(where, "") and choose_text(name),
                "value": short(value),
                "kinds": sorted(view.around.media.get(path or "", ())),
                "absent": value is MISSING,
                "differs": bool(path) and len(by_name[name]) > 1,
            }
        )
    return {
        "name": criterion.name,
        "evaluator": criterion.evaluator,
        "tag": SHORT[definition.category],
        "rows": rows,
        "alternatives": alternatives(definition),
    }


def choose_text(name: str) -> str:
    return _("Choose a column for %(name)s") % {"name": name}


def alternatives(definition: EvaluatorDefinition) -> str:
    """The alternative input sets in words, when there is more than one."""
    smallest = [
        group
        for group in definition.input_sets
        if not any(set(other) < set(group) for other in definition.input_sets)
    ]
    if len(smallest) < 2:
        return ""
    return _(" or ").join(" + ".join(group) for group in smallest)
