"""Answers to htmx: which fragment, where to go, what to announce."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.loader import render_to_string
from django.utils.cache import patch_vary_headers


def is_partial(request: HttpRequest) -> bool:
    """True when the client wants a fragment of this address, not the page.

    Boosted links and history restores are full pages.
    """
    htmx = getattr(request, "htmx", None)
    if not htmx:
        return False
    return not htmx.boosted and not htmx.history_restore_request


def showable(text: str) -> str:
    """`text` without lone surrogates, which no page can carry."""
    return text.encode("utf-8", "replace").decode("utf-8")


def render_page(
    request: HttpRequest,
    template: str,
    context: dict[str, Any],
    *,
    partial: str | None = None,
    status: int = 200,
) -> HttpResponse:
    """The full page, or its partial `partial` when htmx asks for the fragment."""
    name = f"{template}#{partial}" if partial and is_partial(request) else template
    # Texts of datasets and models may hold what UTF-8 cannot: half of a character.
    page = showable(render_to_string(name, context, request))
    response = HttpResponse(page, status=status)
    patch_vary_headers(response, ["HX-Request"])
    return response


def hx_redirect(address: str) -> HttpResponse:
    """Make htmx load `address` as a page."""
    response = HttpResponse(status=200)
    response["HX-Redirect"] = address
    return response


def go(request: HttpRequest, address: str) -> HttpResponse:
    """Redirect, in the way that the client understands."""
    if is_partial(request):
        return hx_redirect(address)
    return HttpResponseRedirect(address)
