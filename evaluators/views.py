"""Pages of the catalogue of evaluators."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render

from evaluators import queries
from evaluators.forms import CatalogueQuery
from workspace.htmx import render_page
from workspace.models import Role
from workspace.scoping import PortalRequest, project_view


@project_view()
def evaluators(request: PortalRequest) -> HttpResponse:
    query = CatalogueQuery(request.GET).values
    groups = queries.groups(query)
    context = {
        "query": query,
        "groups": groups,
        "facets": queries.facets(),
        "total": queries.total(),
        "found": sum(len(cards) for _title, cards in groups),
        "is_filtered": any(query.values()),
    }
    return render_page(
        request, "evaluators/catalogue.html", context, partial="catalogue"
    )


@project_view()
def evaluator(request: PortalRequest, slug: str) -> HttpResponse:
    definition = queries.evaluator_or_404(slug)
    context = {
        "evaluator": definition,
        "card": queries.card_of(definition),
        "category": queries.CATEGORIES[definition.category],
        "metrics": queries.metric_lines(definition),
        "sets": [queries.described_inputs(names) for names in definition.input_sets],
        "optional": queries.described_inputs(definition.optional_inputs),
        "media": [queries.MEDIA[kind] for kind in definition.media],
        "params": [(p, queries.param_range(p)) for p in definition.params],
        "members": queries.members_of(definition),
        "can_evaluate": request.role >= Role.EDITOR,
    }
    return render(request, "evaluators/evaluator.html", context)
