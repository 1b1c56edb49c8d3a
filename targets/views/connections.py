"""Pages of connections: list, add, change, delete, take from the environment."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST

from targets import connections, queries, usage
from targets.forms import ConnectionForm, DeploymentForm
from targets.models import Connection
from targets.views.ways import after_saving
from workspace.models import Role
from workspace.scoping import PortalRequest, project_view
from workspace.ways import safe_next


@project_view()
def models(request: PortalRequest) -> HttpResponse:
    is_owner = request.role >= Role.OWNER
    context = {
        "cards": queries.cards(request.project),
        "is_owner": is_owner,
        "can_test": request.role >= Role.EDITOR,
        "offer": connections.offered_connection(request.project) if is_owner else None,
    }
    return render(request, "targets/models.html", context)


@sensitive_post_parameters("api_key")
@project_view(role=Role.OWNER)
@never_cache
def connection_new(request: PortalRequest) -> HttpResponse:
    post = request.POST or None
    form = ConnectionForm(request.project, post)
    model_form = DeploymentForm(post)
    if request.method == "POST" and all([form.is_valid(), model_form.is_valid()]):
        connection = form.save(commit=False)
        connection.project, connection.created_by = request.project, request.user
        connections.save_connection(connection, key=form.key or "")
        deployment = connections.add_deployment(
            connection, model_form.cleaned_data["model"], **model_form.values
        )
        return after_saving(request, deployment)
    context = {"form": form, "model_form": model_form, "next": safe_next(request)}
    status = 422 if request.method == "POST" else 200
    return render(request, "targets/connection_new.html", context, status=status)


@sensitive_post_parameters("api_key")
@project_view(role=Role.OWNER)
@never_cache
def connection_edit(request: PortalRequest, ref: str) -> HttpResponse:
    stored = changeable(request, ref)
    edited = queries.connection_in(request.project, ref)
    form = ConnectionForm(request.project, request.POST or None, instance=edited)
    if request.method == "POST" and form.is_valid():
        connections.save_connection(form.save(commit=False), key=form.key)
        first = stored.deployments.order_by("pk").first()
        if first and request.POST.get("go") == "test":
            return after_saving(request, first)
        messages.success(request, _("Connection saved."))
        return redirect("models", request.project.slug)
    context = {
        "form": form,
        "connection": stored,
        "can_test": stored.deployments.exists(),
    }
    status = 422 if request.method == "POST" else 200
    return render(request, "targets/connection_edit.html", context, status=status)


@project_view(role=Role.OWNER)
@never_cache
def connection_delete(request: PortalRequest, ref: str) -> HttpResponse:
    """Asks on GET and deletes on POST, unless open work needs one of its models."""
    connection = changeable(request, ref)
    found = list(connection.deployments.order_by("pk"))
    uses = usage.uses_of([deployment.pk for deployment in found])
    if request.method == "POST" and not uses:
        connection.delete()
        messages.success(
            request, _("%(name)s was deleted.") % {"name": connection.name}
        )
        return redirect("models", request.project.slug)
    context = {
        "connection": connection,
        "models": found,
        "uses": uses,
        "cancel_url": reverse("models", args=[request.project.slug]),
    }
    status = 409 if request.method == "POST" else 200
    return render(request, "targets/connection_delete.html", context, status=status)


@project_view(role=Role.OWNER)
@require_POST
def connect_offered(request: PortalRequest) -> HttpResponse:
    """Make the connection that the environment offers; its first model comes next."""
    connection = connections.connect_offered(request.project, request.user)
    if connection is None:
        messages.info(request, _("This connection exists already."))
        return redirect("models", request.project.slug)
    messages.success(request, _("%(name)s is connected.") % {"name": connection.name})
    return redirect("deployment_new", request.project.slug, connection.ref)


def changeable(request: PortalRequest, ref: str) -> Connection:
    """A connection that people may change: the simulator's is not one of them."""
    connection = queries.connection_in(request.project, ref)
    if connection.is_simulated:
        raise Http404(_("The simulator cannot be changed."))
    return connection
