"""A judge that answers from a script, and helpers around it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any

from assay.data.chat import ChatReply, ChatRequest, ModelError, TextPart, Usage


@dataclass
class ScriptedModel:
    """Answers from a list, or by a function of the request; keeps the requests."""

    script: list[str | ChatReply | ModelError] | Callable[[ChatRequest], str]
    requests: list[ChatRequest] = field(default_factory=list)

    async def complete(self, request: ChatRequest) -> ChatReply:
        self.requests.append(request)
        await asyncio.sleep(0)
        if callable(self.script):
            answer: str | ChatReply | ModelError = self.script(request)
        else:
            answer = self.script[len(self.requests) - 1]
        if isinstance(answer, ModelError):
            raise answer
        if isinstance(answer, ChatReply):
            return answer
        return ChatReply(
            answer,
            "stop",
            model="scripted",
            usage=Usage(100, 10, 0.5, 1),
            sent={"messages": len(request.messages)},
            completion_id=len(self.requests),
        )


def text_of(request: ChatRequest, index: int) -> str:
    parts = request.messages[index].parts
    return "".join(part.text for part in parts if isinstance(part, TextPart))


def verdict(score: object, reason: str = "Because.") -> str:
    return json.dumps({"reason": reason, "score": score})


def run(call: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(call)
