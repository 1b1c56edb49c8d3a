"""What an endpoint's refusal means, in plain words."""

from __future__ import annotations

import re
from typing import Any

import openai

from assay.data.chat import ModelError
from blobs.net import AddressRefused

_UNSUPPORTED = re.compile(
    r"unsupported|not support|n't support|unrecognized|unknown|not permitted|"
    r"extra (inputs|fields)|unexpected|not allowed|only the default|use '",
    re.IGNORECASE,
)
_MEDIA = re.compile(r"\b(image|vision|audio|multimodal)", re.IGNORECASE)
PARAMETERS = (
    "max_completion_tokens",
    "max_tokens",
    "temperature",
    "top_p",
    "seed",
    "response_format",
)


def error_body(error: openai.APIStatusError) -> dict[str, Any]:
    """The `error` object of an answer, in the shape of OpenAI and of look-alikes."""
    body = error.body
    if isinstance(body, dict):
        inner = body.get("error", body)
        if isinstance(inner, dict):
            return inner
        return {"message": str(inner)}
    return {"message": (error.response.text or "")[:500]}


def message_of(error: openai.APIStatusError) -> str:
    body = error_body(error)
    text = body.get("message") or body.get("detail") or error.response.text or ""
    return str(text).strip()[:500]


def refused_parameter(error: openai.APIStatusError, sent: set[str]) -> str | None:
    """The parameter that a 400 or 422 says the model does not take, if it was sent."""
    if error.status_code not in (400, 422):
        return None
    body = error_body(error)
    text = f"{body.get('code', '')} {message_of(error)}"
    if not _UNSUPPORTED.search(text):
        return None
    named = str(body.get("param") or "").partition(".")[0]
    if named in sent:
        return named
    if "json_schema" in text and "response_format" in sent:
        return "response_format"
    return next((name for name in PARAMETERS if name in sent and name in text), None)


def refuses_media(error: openai.APIStatusError) -> bool:
    text = message_of(error)
    return error.status_code in (400, 404, 415, 422) and bool(
        _MEDIA.search(text) and _UNSUPPORTED.search(text)
    )


def from_status(error: openai.APIStatusError, model: str) -> ModelError:
    """A refusal that is not worth another try, or the last of several."""
    status, said = error.status_code, message_of(error)
    tail = f" It said: {said}" if said else ""
    details: dict[str, Any] = {"status": status, "message": said}
    code = str(error_body(error).get("code") or "")
    if status in (401, 403):
        sentence = (
            f"The server answered {status}. The stored key is wrong, was revoked or "
            f"may not use this model.{tail}"
        )
        return _stop("key_refused", sentence, details)
    if status == 404:
        sentence = f"The server does not know the model {model} at this address.{tail}"
        return _stop("model_unknown", sentence, details)
    if status == 429 and "insufficient_quota" in (code, error_body(error).get("type")):
        return _stop("quota_used_up", f"The quota is used up.{tail}", details)
    if status == 429:
        sentence = f"{model} is limiting requests; 5 tries were refused.{tail}"
        return ModelError("rate_limited", sentence, permanent=False, details=details)
    if status >= 500 or status in (408, 409):
        sentence = f"The server answered {status} five times.{tail}"
        return ModelError("server_error", sentence, permanent=False, details=details)
    if code == "context_length_exceeded" or "context length" in said:
        sentence = f"The text is too long for {model}.{tail}"
        return ModelError("too_long", sentence, permanent=True, details=details)
    sentence = f"The server answered {status} and refused the request.{tail}"
    return ModelError("bad_request", sentence, permanent=True, details=details)


def _stop(code: str, sentence: str, details: dict[str, Any]) -> ModelError:
    return ModelError(code, sentence, permanent=True, stops_run=True, details=details)


def from_connection(error: openai.APIConnectionError, url: str) -> ModelError:
    """No answer at all: a time-out, or nobody at the address."""
    if isinstance(error, openai.APITimeoutError):
        sentence = "The model did not answer in time."
        return ModelError("timeout", sentence, permanent=False)
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, AddressRefused):
            sentence = (
                f"{cause} Connections to private addresses must be listed in "
                "ASSAY_PRIVATE_NETWORKS."
            )
            return _stop("address_refused", sentence, {})
        cause = cause.__cause__ or cause.__context__
    sentence = f"Nothing answers at {url}. Check the address and that the server runs."
    return ModelError("unreachable", sentence, permanent=False, stops_run=True)
