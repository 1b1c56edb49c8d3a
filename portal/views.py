"""Health, and the search in the header."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.cache import never_cache

from portal.health import check
from workspace.scoping import PortalRequest, project_view


@never_cache
def healthz(_request: HttpRequest) -> HttpResponse:
    report = check()
    return JsonResponse(report.as_json(), status=200 if report.is_healthy else 503)


@project_view()
def search(request: PortalRequest) -> HttpResponse:
    """Searching starts where most things are: the evaluations list."""
    address = reverse("evaluations", args=[request.project.slug])
    query = request.GET.get("q", "").strip()
    return redirect(address + ("?" + urlencode({"q": query}) if query else ""))
