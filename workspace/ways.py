"""Where a person came from, and where they go back to with what they made."""

from __future__ import annotations

from django.http import HttpRequest
from django.utils.http import url_has_allowed_host_and_scheme, urlencode


def safe_next(request: HttpRequest) -> str:
    """The `next` of a request when it is a page of this portal, else empty."""
    target = request.POST.get("next") or request.GET.get("next") or ""
    is_safe = url_has_allowed_host_and_scheme(
        target, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    return target if is_safe else ""


def with_query(target: str, **values: str) -> str:
    """`target` told which thing to use."""
    joint = "&" if "?" in target else "?"
    return target + joint + urlencode(values)
