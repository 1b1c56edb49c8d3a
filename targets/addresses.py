"""Base URLs: what people type, and what the client wants."""

from __future__ import annotations

import re
from urllib.parse import SplitResult, parse_qs, urlsplit, urlunsplit

PASTED = ("/chat/completions", "/completions", "/responses", "/models")
_SCHEME = re.compile(r"^[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_VERSION = re.compile(r"/v\d+[a-z0-9]*(/|$)", re.IGNORECASE)
_AZURE_PATH = re.compile(r"/openai(/deployments(/.*)?)?$", re.IGNORECASE)
_LOCAL = ("localhost", "127.", "[::1]")


class AddressError(ValueError):
    """The text is no base URL; the message says why."""


def normalise_base_url(text: str) -> str:
    """The base URL of an OpenAI-compatible server.

    A trailing slash, a query and a pasted `/chat/completions` are dropped; an address
    without a path gets `/v1`. Raises `AddressError`.
    """
    parts = _split(text)
    path = parts.path.rstrip("/")
    for tail in PASTED:
        path = path.removesuffix(tail).rstrip("/")
    return urlunsplit((parts.scheme, parts.netloc, path or "/v1", "", ""))


def normalise_azure_url(text: str) -> str:
    """The endpoint of an Azure OpenAI resource: without `/openai` and what follows it.

    Raises `AddressError`.
    """
    parts = _split(text)
    path = parts.path.rstrip("/").removesuffix("/chat/completions")
    if re.search(r"/openai/v1$", path, re.IGNORECASE):
        raise AddressError(
            "This address has no API version: choose OpenAI-compatible for it."
        )
    path = _AZURE_PATH.sub("", path)
    return urlunsplit((parts.scheme, parts.netloc, path, "", ""))


def azure_version(text: str) -> str:
    """The API version in a pasted Azure address, else ""."""
    return parse_qs(urlsplit(text.strip()).query).get("api-version", [""])[0]


def alternatives(base_url: str) -> list[str]:
    """Where else chat completions may be when there are none at `base_url`."""
    parts = urlsplit(base_url)
    if parts.path == "/v1":
        return [urlunsplit((parts.scheme, parts.netloc, "", "", ""))]
    if _VERSION.search(parts.path):
        return []
    path = f"{parts.path.rstrip('/')}/v1"
    return [urlunsplit((parts.scheme, parts.netloc, path, "", ""))]


def _split(text: str) -> SplitResult:
    text = text.strip()
    if not _SCHEME.match(text):
        text = f"{'http' if text.lower().startswith(_LOCAL) else 'https'}://{text}"
    try:
        parts = urlsplit(text)
        is_usable = bool(parts.hostname) and parts.port != 0
        (parts.hostname or "").encode("idna")
    except (ValueError, UnicodeError):
        is_usable = False
    if not is_usable or re.search(r"[\s\x00-\x1f<>\"\\]", text):
        raise AddressError("Enter an address such as https://api.openai.com/v1.")
    if parts.scheme.lower() not in ("http", "https"):
        raise AddressError("The address must begin with https:// or http://.")
    if "@" in parts.netloc:
        raise AddressError("Enter the key in its own field, not in the address.")
    return parts._replace(scheme=parts.scheme.lower(), netloc=parts.netloc.lower())
