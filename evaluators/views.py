"""Pages of the catalogue of evaluators."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import redirect, render

from evaluators import pages, queries
from evaluators.forms import CatalogueQuery
from workspace.htmx import render_page
from workspace.models import Role
from workspace.scoping import PortalRequest, project_view


@project_view()
def evaluators(request: PortalRequest) -> HttpResponse:
    query = CatalogueQuery(request.GET).values
    groups = queries.groups(query)
    every = queries.own_cards(request.project)
    own = [c for c in every if queries.matches(c.card.definition, query)]
    is_filtered = any(query.values())
    context = {
        "query": query,
        "groups": groups,
        "own": own,
        "drafts": [] if is_filtered else pages.open_drafts(request.project),
        "actions": pages.actions(),
        "facets": queries.facets(every),
        "total": queries.total() + len(every),
        "found": len(own) + sum(len(cards) for _title, cards in groups),
        "is_filtered": is_filtered,
        "can_create": request.role >= Role.EDITOR,
    }
    return render_page(
        request, "evaluators/catalogue.html", context, partial="catalogue"
    )


@project_view()
def evaluator(request: PortalRequest, slug: str) -> HttpResponse:
    address = queries.own_address(request.project, slug)
    if address:
        return redirect(address)
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
