"""Pages of models: one, add, change, delete."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache

from targets import connections, queries, usage
from targets.forms import DeploymentForm
from targets.models import Deployment
from targets.views.connections import changeable
from targets.views.ways import after_saving
from workspace.models import Role
from workspace.scoping import PortalRequest, project_view
from workspace.ways import safe_next


@project_view()
def deployment(request: PortalRequest, slug: str) -> HttpResponse:
    found = queries.deployment_in(request.project, slug)
    runs = usage.runs_of(found)
    tab = "evaluation" if request.GET.get("tab") == "evaluation" else "overview"
    context: dict[str, Any] = {
        "deployment": found,
        "connection": found.connection,
        "line": queries.line_of(found),
        "runs": runs,
        "tab": tab if runs is not None else "overview",
        "refused": found.capabilities.get("refused", []),
        "is_owner": request.role >= Role.OWNER,
        "can_test": request.role >= Role.EDITOR,
    }
    return render(request, "targets/deployment.html", context)


@project_view(role=Role.OWNER)
@never_cache
def deployment_new(request: PortalRequest, ref: str) -> HttpResponse:
    connection = changeable(request, ref)
    form = DeploymentForm(request.POST or None, connection=connection)
    if request.method == "POST" and form.is_valid():
        model = form.cleaned_data["model"]
        added = connections.add_deployment(connection, model, **form.values)
        return after_saving(request, added)
    context = {"form": form, "connection": connection, "next": safe_next(request)}
    status = 422 if request.method == "POST" else 200
    return render(request, "targets/deployment_form.html", context, status=status)


@project_view(role=Role.OWNER)
@never_cache
def deployment_edit(request: PortalRequest, slug: str) -> HttpResponse:
    stored = _changeable(request, slug)
    edited = queries.deployment_in(request.project, slug)
    form = DeploymentForm(
        request.POST or None, instance=edited, connection=edited.connection
    )
    if request.method == "POST" and form.is_valid():
        saved = connections.save_deployment(form.save(commit=False))
        if request.POST.get("go") == "test":
            return after_saving(request, saved)
        messages.success(request, _("%(name)s is saved.") % {"name": saved.label})
        return redirect("deployment", request.project.slug, slug)
    context = {"form": form, "connection": stored.connection, "deployment": stored}
    status = 422 if request.method == "POST" else 200
    return render(request, "targets/deployment_form.html", context, status=status)


@project_view(role=Role.OWNER)
@never_cache
def deployment_delete(request: PortalRequest, slug: str) -> HttpResponse:
    """Asks on GET and deletes on POST, unless open work needs the model."""
    found = _changeable(request, slug)
    uses = usage.uses_of([found.pk])
    if request.method == "POST" and not uses:
        found.delete()
        messages.success(request, _("%(name)s was deleted.") % {"name": found.label})
        return redirect("models", request.project.slug)
    context = {
        "deployment": found,
        "uses": uses,
        "cancel_url": reverse("deployment", args=[request.project.slug, slug]),
    }
    status = 409 if request.method == "POST" else 200
    return render(request, "targets/deployment_delete.html", context, status=status)


def _changeable(request: PortalRequest, slug: str) -> Deployment:
    found = queries.deployment_in(request.project, slug)
    if found.connection.is_simulated:
        raise Http404(_("The simulator cannot be changed."))
    return found
