"""What every response gets: a request id, a strict content policy, a session."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import Resolver404, resolve, reverse
from django.utils.http import urlencode

from workspace.htmx import hx_redirect

GetResponse = Callable[[HttpRequest], HttpResponse]

POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "media-src 'self'",
        "connect-src 'self'",
        "font-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    ]
)

MOST_ANONYMOUS_BYTES = 64 * 1024
PUBLIC_VIEWS = {"sign_in", "healthz", "favicon"}


def _is_too_much(request: HttpRequest) -> bool:
    """A stranger sends a form of sign-in, never a file."""
    length = request.META.get("CONTENT_LENGTH") or "0"
    return not length.isdecimal() or int(length[:12]) > MOST_ANONYMOUS_BYTES


def _is_public(path: str) -> bool:
    try:
        return resolve(path).url_name in PUBLIC_VIEWS
    except Resolver404:
        return False


class RequestIdMiddleware:
    """Names each request, so that a message on a page leads to a line in the log."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        request_id = secrets.token_hex(4)
        request.request_id = request_id  # type: ignore[attr-defined]
        response = self.get_response(request)
        response["X-Request-Id"] = request_id
        if response.status_code >= 500 and response.status_code != 503:
            logging.getLogger("workspace.requests").error(
                "request_failed id=%s path=%s status=%s",
                request_id,
                request.path,
                response.status_code,
            )
        return response


class ContentSecurityMiddleware:
    """Sets the content policy unless a view set a stricter one of its own."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        response.headers.setdefault("Content-Security-Policy", POLICY)
        return response


class SignInRequiredMiddleware:
    """Every page and every media file needs a session, but for the public few."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.user.is_authenticated:
            return self.get_response(request)
        if _is_too_much(request):
            return HttpResponse(status=413)
        if _is_public(request.path_info):
            return self.get_response(request)
        address = reverse("sign_in")
        if request.method == "GET":
            address += "?" + urlencode({"next": request.get_full_path()})
        if request.headers.get("HX-Request") == "true":
            return hx_redirect(address)
        return redirect(address)


class BodyTimeoutMiddleware:
    """Lets go of who sends the body of a request no further.

    Each thread of the server waits for one body. A client that is silent for
    `BODY_TIMEOUT_SECONDS` while it should send loses its connection, so that a few of
    them cannot hold all threads.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        connection = request.META.get("gunicorn.socket")
        if connection is not None and request.method not in ("GET", "HEAD"):
            connection.settimeout(settings.BODY_TIMEOUT_SECONDS)
        return self.get_response(request)
