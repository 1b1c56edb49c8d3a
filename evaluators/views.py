"""Pages of the catalogue of evaluators."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from evaluators import judges as judge_lists
from evaluators import pages, queries
from evaluators.forms import CatalogueQuery, JudgesForm
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


@project_view()
def judges(request: PortalRequest) -> HttpResponse:
    """Which models judge well in this project; editors change the lists."""
    can_edit = request.role >= Role.EDITOR
    lists = judge_lists.lists_of(request.project)
    initial: dict[str, Any] = {
        level: "\n".join(models) for level, models in lists.items()
    }
    form = JudgesForm(request.POST or None, initial=initial)
    if request.method == "POST":
        if not can_edit:
            raise PermissionDenied
        usual = "usual" in request.POST
        if usual or form.is_valid():
            chosen: dict[str, Any] = {} if usual else form.cleaned_data
            judge_lists.set_lists(request.project, chosen)
            messages.success(request, _("The lists were saved."))
            return redirect("evaluator_judges", request.project.slug)
    status = 422 if form.errors else 200
    context = {"form": form, "can_edit": can_edit}
    return render(request, "evaluators/judges.html", context, status=status)
