"""Reading what an endpoint answered with 200: a chat completion, or something else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeGuard

import httpx2
import orjson

from assay.data.chat import ChatReply, ModelError, Usage
from assay.data.jsonx import JSONObject
from assay.data.media import BLOB_KEY
from targets.config import DeploymentConfig

SHOWN = 120
MOST_TOKENS = 1_000_000_000
Hide = Callable[[str], str]


def read(response: httpx2.Response, hide: Hide) -> dict[str, Any]:
    """The chat completion. Raises `ModelError` `not_an_answer` for anything else."""
    try:
        answer = orjson.loads(response.content)
    except ValueError:
        answer = None
    if isinstance(answer, dict):
        choices = answer.get("choices")
        if isinstance(choices, list) and choices and isinstance(choices[0], dict):
            return answer
        if answer.get("error"):
            raise _error_in_answer(answer["error"], hide)
    beginning = hide(" ".join(response.text.split())[:SHOWN])
    shown = f"It begins with: {beginning}" if beginning else "It is empty."
    raise ModelError(
        "not_an_answer",
        f"The server's answer is not a chat completion. {shown}",
        permanent=True,
    )


def _error_in_answer(error: Any, hide: Hide) -> ModelError:
    """Some routers put the error of a provider into an answer with status 200."""
    said = error.get("message") if isinstance(error, dict) else error
    text = hide(str(said)[:500])
    return ModelError(
        "error_in_answer",
        f"The server answered with an error. It said: {text}",
        permanent=False,
        details={"message": text},
    )


def reply(
    answer: dict[str, Any], config: DeploymentConfig, sent: JSONObject, elapsed: int
) -> ChatReply:
    choice = answer["choices"][0]
    message = choice.get("message")
    message = message if isinstance(message, dict) else {}
    calls = message.get("tool_calls")
    reasoning = message.get("reasoning_content") or message.get("reasoning")
    return ChatReply(
        text=_text(message.get("content")),
        finish_reason=_text(choice.get("finish_reason")),
        refusal=_text(message.get("refusal")),
        reasoning=_text(reasoning),
        tool_calls=_calls(calls),
        model=str(answer.get("model") or config.model),
        usage=usage(answer.get("usage"), config),
        latency_ms=elapsed,
        sent=sent,
        simulated=config.simulated,
    )


def _calls(calls: Any) -> tuple[JSONObject, ...]:
    """Tool calls that are objects. What looks like a stored medium is only text:
    an answer is no permission to read."""
    if not isinstance(calls, list):
        return ()
    return tuple(without_blobs(c) for c in calls if isinstance(c, dict))


def without_blobs(value: Any) -> Any:
    """`value` with keys that name stored media made harmless, at any depth."""
    if isinstance(value, dict):
        return {
            ("blob" if key == BLOB_KEY else key): without_blobs(inner)
            for key, inner in value.items()
        }
    return [without_blobs(v) for v in value] if isinstance(value, list) else value


def _text(content: Any) -> str | None:
    """A text, also when it comes as a list of parts."""
    if isinstance(content, list):
        parts = [part for part in content if isinstance(part, dict)]
        return "".join(str(part.get("text") or "") for part in parts)
    return content if isinstance(content, str) else None


def usage(reported: Any, config: DeploymentConfig) -> Usage:
    """The tokens that the server reports. Without a report the cost is not known."""
    counts = reported if isinstance(reported, dict) else {}
    read_, written = counts.get("prompt_tokens"), counts.get("completion_tokens")
    if not (_is_count(read_) and _is_count(written)):
        return Usage(0, 0, None, 1)
    cost = None
    if config.price_input is not None and config.price_output is not None:
        cost = (read_ * config.price_input + written * config.price_output) / 1e6
    return Usage(read_, written, cost, 1)


def _is_count(value: Any) -> TypeGuard[int]:
    """A number of tokens that can be true; anything else is not known."""
    is_int = isinstance(value, int) and not isinstance(value, bool)
    return is_int and 0 <= value <= MOST_TOKENS
