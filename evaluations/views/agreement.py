"""How well a rubric agrees with people: a tab of the rubric's page."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from assay.scoring.agreement import (
    Measure,
    agreement,
    cohen_kappa,
    two_by_two,
    weighted_kappa,
)
from assay.scoring.rubric.spec import HIGHEST, LOWEST
from evaluations.rowtable import row_url
from evaluations.rubricruns import MOST_SHOWN, Judged, judged_rows
from evaluators.models import EvaluatorVersion
from evaluators.usage import uses_of
from rubrics import past
from rubrics import queries as rubric_queries
from workspace.scoping import PortalRequest, project_view

LEVELS = range(LOWEST, HIGHEST + 1)


@dataclass(frozen=True, slots=True)
class DimensionAgreement:
    """Levels of people against the judge's for one dimension."""

    id: str
    equal: Measure
    kappa: Measure


@project_view()
def rubric_agreement(request: PortalRequest, ref: str) -> HttpResponse:
    evaluator = rubric_queries.rubric_in(request.project, ref)
    versions = rubric_queries.versions_of(evaluator)
    rows = judged_rows(evaluator)
    verdicts = [
        (row.judge, row.person)
        for row in rows
        if row.judge is not None and row.person is not None
    ]
    differing = [row for row in rows if row.disagrees]
    context = {
        "evaluator": evaluator,
        "versions": versions,
        "version": versions[0] if versions else None,
        "is_newest": True,
        "uses": uses_of(versions),
        "more_pages": past.pages_of(evaluator),
        "labels": len(rows),
        "verdicts": len(verdicts),
        "table": two_by_two(verdicts) if verdicts else None,
        "equal": agreement(verdicts) if verdicts else None,
        "kappa": cohen_kappa(verdicts) if verdicts else None,
        "dimensions": _dimensions(versions, rows),
        "is_simulated": any(row.result.run.simulated for row in rows),
        "differing": [
            (row, row_url(row.result.run, row.result.item.index, ""))
            for row in differing[:MOST_SHOWN]
        ],
        "more": max(0, len(differing) - MOST_SHOWN),
        "title": _("Agreement with people"),
    }
    return render(request, "evaluations/agreement.html", context)


def _dimensions(
    versions: list[EvaluatorVersion], rows: list[Judged]
) -> list[DimensionAgreement]:
    """In the order of the newest version; dimensions of older ones follow."""
    newest = rubric_queries.spec_of(versions[0]).dimensions if versions else ()
    pairs: dict[str, list[tuple[int, int]]] = {d.id: [] for d in newest}
    for row in rows:
        for name, (person, judge) in row.dimensions.items():
            pairs.setdefault(name, []).append((judge, person))
    return [
        DimensionAgreement(name, agreement(found), weighted_kappa(found, LEVELS))
        for name, found in pairs.items()
        if found
    ]
