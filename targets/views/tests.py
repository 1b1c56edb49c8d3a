"""Testing a model: a real call in a worker, waited for by polling."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from targets import queries, testcalls
from targets.models import TestCall
from targets.views.ways import test_address
from workspace.htmx import is_partial
from workspace.models import Role
from workspace.scoping import PortalRequest, project_view
from workspace.ways import safe_next, with_query


@project_view(role=Role.EDITOR)
@require_POST
def deployment_test(request: PortalRequest, slug: str) -> HttpResponse:
    deployment = queries.deployment_in(request.project, slug)
    kind = TestCall.Kind.DEPLOYMENT
    call = testcalls.ask(request.project, kind, deployment, by=request.user)
    if is_partial(request):
        return _fragment(request, call)
    return redirect(test_address(request, call))


@project_view(role=Role.EDITOR)
@never_cache
def test_call(request: PortalRequest, ref: str) -> HttpResponse:
    """The state of a test: a page, or the fragment that polls until it is over."""
    call = queries.test_call_in(request.project, ref)
    if is_partial(request):
        return _fragment(request, call)
    return render(request, "targets/test_call.html", _context(request, call))


def _context(request: PortalRequest, call: TestCall) -> dict[str, Any]:
    assert call.deployment is not None
    target = safe_next(request)
    return {
        "call": call,
        "deployment": call.deployment,
        "connection": call.deployment.connection,
        "target": target,
        "next": with_query(target, model=call.deployment.ref) if target else "",
        "waits_long": queries.waits_long(call),
        "is_owner": request.role >= Role.OWNER,
        "can_test": request.role >= Role.EDITOR,
    }


def _fragment(request: PortalRequest, call: TestCall) -> HttpResponse:
    """The panel of a test, or in the list of models its cell; when the test is over
    the whole card of the connection is sent instead of the cell."""
    context = _context(request, call)
    if request.GET.get("in") != "list":
        return render(request, "targets/_test.html", context)
    if not call.is_over:
        return render(request, "targets/_waiting.html", context)
    connection = context["connection"]
    context["card"] = queries.cards(request.project, pk=connection.pk)[0]
    context["refusal"] = call.error
    response = render(request, "targets/_card.html", context)
    response["HX-Retarget"] = f"#{connection.ref}"
    response["HX-Reswap"] = "outerHTML"
    return response
