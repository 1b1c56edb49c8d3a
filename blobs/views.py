from __future__ import annotations

from django.http import HttpResponse

from workspace.scoping import PortalRequest, project_view


@project_view()
def media(request: PortalRequest, sha256: str) -> HttpResponse:
    return HttpResponse(status=404)
