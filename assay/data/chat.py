"""What is said to a model and what comes back, independent of any client."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias

from assay.data.jsonx import JSON, JSONObject
from assay.data.media import BlobRef

Role = Literal["system", "user", "assistant"]


@dataclass(frozen=True, slots=True)
class TextPart:
    text: str


@dataclass(frozen=True, slots=True)
class MediaPart:
    ref: BlobRef


Part: TypeAlias = TextPart | MediaPart


@dataclass(frozen=True, slots=True)
class ChatMessage:
    role: Role
    parts: tuple[Part, ...]

    @classmethod
    def text(cls, role: Role, text: str) -> ChatMessage:
        return cls(role, (TextPart(text),))


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One call. `None` leaves a parameter to the deployment's default.

    `schema` asks for an answer of that JSON Schema; the gateway falls back to JSON
    mode and then to plain text where the model refuses it. `repeat` tells apart
    calls that are equal on purpose, so that a cache does not join them.
    """

    messages: tuple[ChatMessage, ...]
    max_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    seed: int | None = None
    schema: JSONObject | None = None
    repeat: int = 0


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one or several calls; cost in the currency of the price list."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None
    calls: int = 0

    @property
    def total_tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens

    def __add__(self, other: Usage) -> Usage:
        costs = [c for c in (self.cost, other.cost) if c is not None]
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            sum(costs) if costs else None,
            self.calls + other.calls,
        )

    def as_json(self) -> JSONObject:
        return {
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "total_tokens": self.total_tokens,
            "cost": self.cost,
            "calls": self.calls,
        }


@dataclass(frozen=True, slots=True)
class ChatReply:
    """An answer as it came. `sent` is the request as sent, media replaced by names."""

    text: str | None
    finish_reason: str | None = None
    refusal: str | None = None
    reasoning: str | None = None
    tool_calls: tuple[JSONObject, ...] = ()
    model: str = ""
    usage: Usage = field(default_factory=Usage)
    latency_ms: int = 0
    sent: JSONObject = field(default_factory=dict)
    completion_id: int | None = None
    simulated: bool = False


class ModelError(Exception):
    """A call that gave no answer.

    `code` is stable and short, `sentence` is for the user. `permanent` errors are
    not tried again; `stops_run` ones (refused key, unknown model, used-up quota)
    would fail on every row, so the run pauses instead. `reply` is an answer that came
    and could not be used: it was paid for.
    """

    def __init__(
        self,
        code: str,
        sentence: str,
        *,
        permanent: bool,
        stops_run: bool = False,
        details: Mapping[str, JSON] | None = None,
        reply: ChatReply | None = None,
    ) -> None:
        super().__init__(sentence)
        self.code = code
        self.sentence = sentence
        self.permanent = permanent
        self.stops_run = stops_run
        self.details = dict(details or {})
        self.reply = reply


class ChatModel(Protocol):
    """A deployment that can be called. Raises `ModelError`."""

    async def complete(self, request: ChatRequest) -> ChatReply: ...
