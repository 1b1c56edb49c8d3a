"""A simulated model behind real HTTP, for people who have no key yet.

It speaks the chat completions API, sees nothing but the request, and gives the same
answer to the same request. As a judge it scores by word overlap: of the response with
the ground truth where the prompt holds one, else with query and context. That is
plausible, and worth nothing as a measurement: whatever shows its scores says so.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
from typing import Any

import orjson
from aiohttp import web

from targets import simulated_rubrics
from targets.models import SIMULATOR_MODEL as MODEL
from targets.overlap import overlap, verdict, words

_FENCED = re.compile(r"<<<(\w+) ([0-9a-f]+)>>>\s*(.*?)\s*<<<end \1 \2>>>", re.DOTALL)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")


def flatten(messages: list[dict[str, Any]]) -> tuple[str, str, int]:
    """System text, other text, and the number of media parts of a request."""
    system: list[str] = []
    rest: list[str] = []
    media = 0
    for message in messages:
        content = message.get("content")
        parts = content if isinstance(content, list) else [{"text": content}]
        for part in parts:
            if part.get("text"):
                (system if message.get("role") == "system" else rest).append(
                    str(part["text"])
                )
            elif part.get("type") in {"image_url", "input_audio"}:
                media += 1
    return "\n".join(system), "\n".join(rest), media


def asked_schema(body: dict[str, Any]) -> dict[str, Any]:
    """The JSON Schema of the answer that the request asks for, {} without one."""
    found: Any = body
    for key in ("response_format", "json_schema", "schema"):
        found = found.get(key) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else {}


def judgement(
    system: str, inputs: dict[str, str], schema: dict[str, Any]
) -> dict[str, Any]:
    """What a judge says about fenced inputs, or an author of rubrics makes of them."""
    about_rubric = simulated_rubrics.answer(system, inputs, schema)
    if about_rubric is not None:
        return about_rubric
    score, reason = verdict(inputs)
    asked = (schema.get("properties") or {}).get("score") or {}
    return {"reason": reason, "score": on_scale(score, asked)}


def on_scale(score: int, schema: dict[str, Any]) -> int | float | bool:
    """A score from 1 to 5 on the scale of `schema`."""
    share = (score - 1) / 4
    if schema.get("type") == "boolean":
        return share >= 0.5
    levels = schema.get("enum")
    if isinstance(levels, list) and levels:
        return int(levels[round(share * (len(levels) - 1))])
    if schema.get("type") == "number":
        low, high = schema.get("minimum", 0), schema.get("maximum", 1)
        return round(float(low + share * (high - low)), 3)
    return score


def answer(system: str, prompt: str, media: int) -> str:
    """A plausible answer: the sentences that share the most words with the question."""
    lines = [line for line in prompt.strip().splitlines() if line.strip()]
    question = lines[-1] if lines else ""
    known = f"{system}\n{prompt}".replace(question, "")
    sentences = [s.strip() for s in _SENTENCE.split(known) if len(s.split()) > 3]
    ranked = sorted(sentences, key=lambda s: (-overlap(s, question), s))
    fitting = [s for s in ranked[:2] if overlap(s, question) > 0]
    seen = (
        f" I was shown {media} media part{'s' if media > 1 else ''}." if media else ""
    )
    if fitting:
        return f"{' '.join(fitting)}{seen}"
    topic = " ".join(words(question)[:8]) or "this"
    return f"Thank you for asking about {topic}. I will look after it for you.{seen}"


def reply(body: dict[str, Any]) -> dict[str, Any]:
    """The chat completion for a request body. Equal requests, equal answers."""
    system, prompt, media = flatten(body.get("messages") or [])
    inputs: dict[str, str] = {}
    for name, _fence, text in _FENCED.findall(prompt):
        inputs.setdefault(name, text)
    if inputs:
        said = judgement(system, inputs, asked_schema(body))
        text = orjson.dumps(said).decode()
    else:
        text = answer(system, prompt, media)
    digest = hashlib.sha256(orjson.dumps(body, option=orjson.OPT_SORT_KEYS)).hexdigest()
    read = (len(system) + len(prompt)) // 4 + 900 * media
    written = max(1, len(text) // 4)
    return {
        "id": f"chatcmpl-sim-{digest[:20]}",
        "object": "chat.completion",
        "created": 0,
        "model": MODEL,
        "system_fingerprint": "simulated",
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": text},
            }
        ],
        "usage": {
            "prompt_tokens": read,
            "completion_tokens": written,
            "total_tokens": read + written,
        },
    }


def _refusal(status: int, message: str) -> web.Response:
    body = {"error": {"message": message, "type": "invalid_request_error"}}
    return web.json_response(body, status=status)


def make_app(*, delay_ms: int = 0) -> web.Application:
    """The web application. `delay_ms`: how long an answer takes."""

    async def completions(request: web.Request) -> web.Response:
        try:
            body = orjson.loads(await request.read())
            messages = body["messages"]
        except (ValueError, KeyError, TypeError):
            return _refusal(400, "The body must be JSON with messages.")
        if not isinstance(messages, list) or not messages:
            return _refusal(400, "messages must be a list that is not empty.")
        if body.get("model") != MODEL:
            return _refusal(404, f"The model {body.get('model')} does not exist.")
        if delay_ms:
            await asyncio.sleep(delay_ms / 1000)
        return web.Response(
            body=orjson.dumps(reply(body)), content_type="application/json"
        )

    async def models(_request: web.Request) -> web.Response:
        data = [{"id": MODEL, "object": "model", "created": 0, "owned_by": "assay"}]
        return web.json_response({"object": "list", "data": data})

    app = web.Application(client_max_size=64 * 1024 * 1024)
    app.router.add_post("/v1/chat/completions", completions)
    app.router.add_get("/v1/models", models)
    return app


def serve(port: int, *, host: str = "127.0.0.1", delay_ms: int) -> None:
    """Serve until the process is told to stop."""
    web.run_app(
        make_app(delay_ms=delay_ms),
        host=host,
        port=port,
        print=None,
        access_log=None,
    )
