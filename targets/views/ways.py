"""Where a person goes after saving."""

from __future__ import annotations

from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _

from targets.models import Deployment, TestCall
from targets.testcalls import ask
from workspace.scoping import PortalRequest
from workspace.ways import safe_next, with_query


def test_address(request: PortalRequest, call: TestCall) -> str:
    """The page of a test, which leads on to where the person came from."""
    target = safe_next(request)
    address = reverse("test_call", args=[request.project.slug, call.ref])
    return f"{address}?{urlencode({'next': target})}" if target else address


def after_saving(request: PortalRequest, deployment: Deployment) -> HttpResponse:
    """On to the test of a saved model, or back to where the person came from."""
    target = safe_next(request)
    if request.POST.get("go") == "test":
        call = ask(
            request.project,
            TestCall.Kind.DEPLOYMENT,
            deployment,
            by=request.user,
        )
        return redirect(test_address(request, call))
    messages.success(request, _("%(name)s is saved.") % {"name": deployment.label})
    if target:
        return redirect(with_query(target, model=deployment.ref))
    return redirect("models", request.project.slug)
