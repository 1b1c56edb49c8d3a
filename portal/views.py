"""Health, and the search in the header."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.templatetags.static import static
from django.views.decorators.cache import never_cache

from portal.health import check
from portal.search import find_named
from workspace.scoping import PortalRequest, project_view


@never_cache
def healthz(_request: HttpRequest) -> HttpResponse:
    report = check()
    return JsonResponse(report.as_json(), status=200 if report.is_healthy else 503)


@project_view()
def search(request: PortalRequest) -> HttpResponse:
    """What has the words in its name, by kind."""
    words = request.GET.get("q", "").strip()[:200]
    context = {"q": words, "groups": find_named(request.project, words)}
    return render(request, "portal/search.html", context)


def favicon(_request: HttpRequest) -> HttpResponse:
    """Browsers ask for it on answers that are no pages."""
    return redirect(static("icon.svg"))
