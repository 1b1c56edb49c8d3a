"""What the shell of every page needs."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse

from workspace.models import Project, User
from workspace.navigation import navigation


def shell(request: HttpRequest) -> dict[str, Any]:
    """`shell`: product name, project, projects, navigation, theme, search address."""
    project: Project | None = getattr(request, "project", None)
    person = getattr(request, "user", None)
    user = person if isinstance(person, User) else None
    return {
        "shell": {
            "product": settings.PRODUCT_NAME,
            "project": project,
            "projects": list(user.projects.order_by("name")) if user else [],
            "nav": navigation(project.slug, request.path) if project else [],
            "nav_foot": [],
            "theme": user.theme if user else "",
            "shortcuts": user.shortcuts if user else True,
            "search_url": reverse("search", args=[project.slug]) if project else "",
            "request_id": getattr(request, "request_id", ""),
            "role": getattr(request, "role", None),
        }
    }
