"""Fetch and authorise in one step. Unknown and forbidden look the same: 404."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from django.core.exceptions import PermissionDenied
from django.db import models
from django.http import Http404, HttpRequest, HttpResponse

from workspace.models import Membership, Project, Role, User

ModelT = TypeVar("ModelT", bound=models.Model)


class PortalRequest(HttpRequest):
    """A request of a signed-in member inside a project."""

    user: User
    project: Project
    role: Role


View = Callable[..., HttpResponse]


def project_view(*, role: Role = Role.VIEWER) -> Callable[[View], View]:
    """The view gets `request.project` and `request.role` instead of a slug.

    A stranger sees 404; a member whose role is too low sees 403.
    """

    def decorate(view: View) -> View:
        @wraps(view)
        def wrapped(
            request: HttpRequest, project: str, *args: Any, **kwargs: Any
        ) -> HttpResponse:
            membership = (
                Membership.objects.select_related("project")
                .filter(user_id=request.user.pk or 0, project__slug=project)
                .first()
            )
            if membership is None:
                raise Http404("No such project.")
            portal_request = cast("PortalRequest", request)
            portal_request.project = membership.project
            portal_request.role = Role(membership.role)
            if membership.role < role:
                raise PermissionDenied
            return view(portal_request, *args, **kwargs)

        return wrapped

    return decorate


def find(queryset: models.QuerySet[ModelT], message: str, **lookup: Any) -> ModelT:
    """The one object of an already scoped queryset, or 404 with `message`."""
    found = queryset.filter(**lookup).first()
    if found is None:
        raise Http404(message)
    return found


def first_project(user: User) -> Project | None:
    """The project that a person lands in."""
    return Project.objects.filter(memberships__user=user).order_by("pk").first()
