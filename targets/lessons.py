"""What a refusal teaches: which parameter or which kind of media a model does not take.

The rules follow the answers of OpenAI, Azure OpenAI, vLLM, llama.cpp, Ollama, LM
Studio, LiteLLM, DeepSeek, Mistral, Groq, xAI and OpenRouter. They rather miss a lesson
than learn a wrong one: what is learned is left out of every later call.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import openai

from assay.data.jsonx import JSON
from targets.failures import error_body, whole_message

_REFUSED = re.compile(
    r"unsupported|not support|n't support|unrecognized|unknown|not permitted|"
    r"extra (inputs|fields)|unexpected|not (allowed|available|accepted)|unavailable|"
    r"only the default|use '|deprecated|cannot both|only supported|invalid schema",
    re.IGNORECASE,
)
# In order: where two exclude each other, the first named here is given up.
PARAMETERS = (
    "max_completion_tokens",
    "max_tokens",
    "top_p",
    "temperature",
    "seed",
    "response_format",
)
_FORMAT = re.compile(
    r"response_?format|json_schema|json_object|structured output|guided|grammar",
    re.IGNORECASE,
)
_FORMAT_REFUSED = re.compile(r"must be|invalid|not implemented|fail", re.IGNORECASE)

_NAMES_KIND = {
    "image": re.compile(r"image|vision|mmproj", re.IGNORECASE),
    "audio": re.compile(r"audio", re.IGNORECASE),
}
_NAMES_ANY = re.compile(
    r"multi-?modal|content must be a string|content.{0,30}(valid|expected a) string|"
    r"non-text|only text",
    re.IGNORECASE,
)
_MEDIA_REFUSED = re.compile(
    rf"{_REFUSED.pattern}|must be a string|valid string|expected to be either|"
    r"is not a multi-?modal|at most 0 |no endpoints found that support|missing data|"
    r"invalid value: '(input_audio|image_url)'|only text|"
    r"cannot (read|process|handle) (images|audio)",
    re.IGNORECASE,
)
# One bad picture says nothing about the model.
_MEDIA_FAULT = re.compile(
    r"unsupported (image|audio)(?! (input|content))|(image|audio)[ _.]*"
    r"(format|type|file|size|url_format|parse)|format|mime|media type|base64|corrupt|"
    r"too (large|small|big|many)|decod|download|dimension|resolution|invalid_image|"
    r"could not (process|load|open)",
    re.IGNORECASE,
)
_ACCEPTED = re.compile(
    r"(?:supported values are|expected to be)(.*)", re.IGNORECASE | re.DOTALL
)
_SERVER_SAYS_NO = re.compile(
    r"(image|audio) input is not supported|mmproj|missing data required for image",
    re.IGNORECASE,
)


def refused_parameter(
    error: openai.APIStatusError, sent: Mapping[str, JSON]
) -> str | None:
    """The parameter of `sent` that the model does not take.

    A refused answer format is named by its type: json_schema or json_object.
    """
    if error.status_code not in (400, 422):
        return None
    body = error_body(error)
    text = f"{body.get('code', '')} {whole_message(error)}"
    named = str(body.get("param") or "").partition(".")[0]
    form = sent.get("response_format")
    if isinstance(form, dict) and (named == "response_format" or _FORMAT.search(text)):
        if _REFUSED.search(text) or _FORMAT_REFUSED.search(text):
            return str(form["type"])
        return None
    if not _REFUSED.search(text):
        return None
    if named in sent:
        return named
    return next((n for n in PARAMETERS if n in sent and _names(n, text)), None)


def _names(parameter: str, text: str) -> bool:
    """Whether `text` names the parameter, also in camel case."""
    spelled = parameter.replace("_", "_?")
    return bool(re.search(rf"(?<![a-z_]){spelled}(?![a-z_])", text, re.IGNORECASE))


def refused_media(error: openai.APIStatusError, sent: set[str]) -> set[str]:
    """The kinds of `sent` ("image", "audio") that the model does not read."""
    if not sent:
        return set()
    text = whole_message(error)
    if error.status_code in (500, 501):
        refused = _SERVER_SAYS_NO.search(text)
    else:
        refused = _MEDIA_REFUSED.search(text)
    if not refused or error.status_code not in (400, 404, 415, 422, 500, 501):
        return set()
    if _SERVER_SAYS_NO.search(text) is None and _MEDIA_FAULT.search(text):
        return set()
    accepted = _ACCEPTED.search(text)
    if accepted:
        return {k for k in sent if not _NAMES_KIND[k].search(accepted.group(1))}
    kinds = {kind for kind in sent if _NAMES_KIND[kind].search(text)}
    return kinds or (sent if _NAMES_ANY.search(text) else set())
