"""What an endpoint's refusal means, in plain words."""

from __future__ import annotations

import ipaddress
import json
import re
import zlib
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import aiohttp
import httpx2
import openai
from aiohttp.http_exceptions import ContentEncodingError

from assay.data.chat import ModelError
from blobs.net import AddressRefused

SHOWN = 500
TEMPORARY = {408, 409}
QUOTA_CODES = {"insufficient_quota", "billing_hard_limit_reached"}
UNKNOWN_MODEL_CODES = {"model_not_found", "invalid_model", "DeploymentNotFound"}
_UNKNOWN_MODEL = re.compile(
    r"model.{0,120}(does not exist|not found|not exist|unknown|not available)|"
    r"(unknown|invalid|no such) model|not a valid model|deployment.{0,60}not exist",
    re.IGNORECASE | re.DOTALL,
)
_TOO_LONG = re.compile(
    r"context.?(length|window)|too many tokens|prompt is too long", re.IGNORECASE
)

_PUBLIC_NAME = re.compile(r"([\w-]+\.)+[a-z][a-z0-9-]+", re.IGNORECASE)
_INNER = (".internal", ".local", ".localhost", ".lan", ".home.arpa", ".corp", ".home")


def error_body(error: openai.APIStatusError) -> dict[str, Any]:
    """The `error` object of an answer, in the shape of OpenAI and of look-alikes."""
    body = error.body
    if isinstance(body, list) and body:
        body = body[0]
    if isinstance(body, dict):
        inner = body.get("error", body)
        if isinstance(inner, dict):
            return inner
        return {**body, "message": inner}
    return {"message": str(body or "")}


def whole_message(error: openai.APIStatusError) -> str:
    """All that the server said, for finding words in it."""
    body = error_body(error)
    return f"{body.get('message') or ''} {body.get('detail') or ''}"[:4000]


def message_of(error: openai.APIStatusError) -> str:
    """What the server said, for people."""
    body = error_body(error)
    said = body.get("message") or body.get("detail") or ""
    if isinstance(said, dict):
        said = said.get("detail") or said.get("message") or said
    if isinstance(said, list):
        said = "; ".join(_line(entry) for entry in said)
    text = _plain(said).strip()
    if text.startswith(("<!", "<html", "<HTML")):
        return ""
    return " ".join(text.split())[:SHOWN]


def _plain(said: Any) -> str:
    """Text as it is, anything else as JSON."""
    return said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)


def _line(entry: Any) -> str:
    """One entry of a list of faults: its place and its sentence."""
    if not isinstance(entry, dict):
        return _plain(entry)
    loc = entry.get("loc")
    place = ".".join(str(part) for part in loc) if isinstance(loc, list) else ""
    said = _plain(entry.get("msg") or entry.get("message") or entry)
    return f"{place}: {said}" if place else said


def from_status(
    error: openai.APIStatusError, model: str, tries: int, hide: Callable[[str], str]
) -> ModelError:
    """A refusal that is not worth another try, or the last of several."""
    status, said = error.status_code, hide(message_of(error))
    tail = f" It said: {said}" if said else ""
    details: dict[str, Any] = {"status": status, "message": said}
    body = error_body(error)
    codes = {str(body.get("code") or ""), str(body.get("type") or "")}
    if status < 400:
        return _stop("redirected", _redirected(error, hide), details)
    if status in (401, 403):
        sentence = (
            f"The server answered {status}. The stored key is wrong, was revoked or "
            f"may not use this model.{tail}"
        )
        return _stop("key_refused", sentence, details)
    if status == 402 or codes & QUOTA_CODES:
        return _stop("quota_used_up", f"The quota is used up.{tail}", details)
    if status == 400 and "content_filter" in codes:
        sentence = f"The content filter of the server blocked this request.{tail}"
        return ModelError("content_filter", sentence, permanent=True, details=details)
    unknown = bool(codes & UNKNOWN_MODEL_CODES or _UNKNOWN_MODEL.search(said))
    if status in (404, 405) or (status == 400 and unknown):
        return _stop(*_not_found(status, model, tail, unknown=unknown), details)
    if status == 429:
        sentence = f"{model} is limiting requests. {_tries(tries)}{tail}"
        return ModelError("rate_limited", sentence, permanent=False, details=details)
    if status >= 500 or status in TEMPORARY:
        sentence = f"The server answered {status}. {_tries(tries)}{tail}"
        return ModelError("server_error", sentence, permanent=False, details=details)
    if status == 413 or "context_length_exceeded" in codes or _TOO_LONG.search(said):
        sentence = f"The text is too long for {model}.{tail}"
        return ModelError("too_long", sentence, permanent=True, details=details)
    sentence = f"The server answered {status} and refused the request.{tail}"
    return ModelError("bad_request", sentence, permanent=True, details=details)


def _tries(count: int) -> str:
    return f"All {count} tries failed." if count > 1 else "The try failed."


def _not_found(status: int, model: str, tail: str, *, unknown: bool) -> tuple[str, str]:
    if unknown:
        sentence = f"The server does not know the model {model}.{tail}"
        return "model_unknown", sentence
    sentence = (
        f"The server answered {status}. There are no chat completions at this "
        f"address, or it does not know the model {model}. Check both.{tail}"
    )
    return "not_found", sentence


def _redirected(error: openai.APIStatusError, hide: Callable[[str], str]) -> str:
    """A target is only named when it is public: what a server says is no reason to
    enter an address inside the network."""
    try:
        target = urlsplit(error.response.headers.get("location", ""))
        scheme, host, port = target.scheme, target.hostname or "", target.port
    except ValueError:
        scheme, host, port = "", "", None
    if scheme not in ("http", "https") or not _is_public(host):
        return (
            "The server redirects to another address. "
            "Enter the address that it should be."
        )
    path = target.path.removesuffix("/chat/completions")
    place = f"[{host}]" if ":" in host else host
    place += f":{port}" if port else ""
    address = hide(urlunsplit((target.scheme, place, path, "", "")))[:200]
    return f"The server sends calls on to {address}. Enter that as base URL."


def _is_public(host: str) -> bool:
    """True for a public IP address, and for a name that can be known to all."""
    try:
        address = ipaddress.ip_address(host)
        return (getattr(address, "ipv4_mapped", None) or address).is_global
    except ValueError:
        return bool(_PUBLIC_NAME.fullmatch(host)) and not host.endswith(_INNER)


def _stop(code: str, sentence: str, details: dict[str, Any]) -> ModelError:
    return ModelError(code, sentence, permanent=True, stops_run=True, details=details)


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The error, what it came from, and the members of groups."""
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        found = waiting.pop()
        if found is None or id(found) in seen:
            continue
        seen.add(id(found))
        yield found
        waiting += [found.__cause__, found.__context__]
        waiting.append(getattr(found, "os_error", None))
        waiting += getattr(found, "exceptions", ())


def from_connection(error: openai.APIConnectionError, url: str) -> ModelError:
    """No answer at all. The cause decides: the client calls nearly all of them a
    time-out."""
    causes = list(_causes(error))
    host = urlsplit(url).netloc or url

    def has(*kinds: type[BaseException]) -> bool:
        return any(isinstance(cause, kinds) for cause in causes)

    for cause in causes:
        if isinstance(cause, AddressRefused):
            sentence = (
                f"{cause} Connections to private addresses must be listed in "
                "ASSAY_PRIVATE_NETWORKS."
            )
            return _stop("address_refused", sentence, {})
    if has(httpx2.DecodingError, ContentEncodingError, zlib.error, UnicodeError):
        sentence = "The server's answer cannot be read."
        return ModelError("broken_answer", sentence, permanent=True)
    if has(aiohttp.ClientConnectorDNSError):
        sentence = f"The name {urlsplit(url).hostname} is not known. Check the address."
    elif has(aiohttp.ClientConnectorCertificateError):
        sentence = f"The certificate of {host} is not trusted by this server."
    elif has(aiohttp.ClientSSLError):
        sentence = f"{host} does not speak TLS. Does its address begin with http://?"
    elif has(aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError):
        sentence = f"Nothing answers at {url}. Check that the server runs there."
    elif has(
        aiohttp.ServerDisconnectedError, aiohttp.ClientPayloadError, ConnectionError
    ):
        sentence = f"{host} closed the connection before it had answered."
        return ModelError("connection_cut", sentence, permanent=False)
    elif has(aiohttp.ServerTimeoutError, TimeoutError) or isinstance(
        error, openai.APITimeoutError
    ):
        return ModelError(
            "timeout", "The model did not answer in time.", permanent=False
        )
    else:
        sentence = f"Nothing answers at {url}. Check that the server runs there."
    return ModelError("unreachable", sentence, permanent=False, stops_run=True)
