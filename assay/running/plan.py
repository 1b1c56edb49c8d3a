"""Planning: chunks of rows, and what a run will take."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from assay.data.chat import ChatRequest, MediaPart, TextPart

CHARACTERS_PER_TOKEN = 4
TOKENS_PER_MEDIUM = 900
JUDGE_ANSWER_TOKENS = 140
TARGET_ANSWER_TOKENS = 250
SECONDS_PER_CALL = 2.5
UNCERTAINTY = 0.35


@dataclass(frozen=True, slots=True)
class Span:
    """Positions `first` to `last`, both included."""

    first: int
    last: int


def chunks(total: int, size: int) -> list[Span]:
    """Spans that cover 0 to total - 1, each position once."""
    return [
        Span(first, min(first + size, total) - 1) for first in range(0, total, size)
    ]


@dataclass(frozen=True, slots=True)
class CallSample:
    """Calls of one kind on sampled rows: requests, and the price list (per million).

    `seconds` is the latency last seen, `concurrency` the calls at once, `per_row` the
    calls for one row.
    """

    name: str
    requests: Sequence[ChatRequest]
    answer_tokens: int
    price_input: float | None = None
    price_output: float | None = None
    seconds: float | None = None
    concurrency: int = 8
    per_row: int = 1


@dataclass(frozen=True, slots=True)
class Estimate:
    """Expected calls, tokens, cost (None: a price is not known) and seconds.

    The ranges are the expectation ± 35 %.
    """

    calls: int
    tokens: int
    cost: float | None
    seconds: float

    @property
    def cost_range(self) -> tuple[float, float] | None:
        return None if self.cost is None else _range(self.cost)

    @property
    def seconds_range(self) -> tuple[float, float]:
        return _range(self.seconds)


def _range(value: float) -> tuple[float, float]:
    return value * (1 - UNCERTAINTY), value * (1 + UNCERTAINTY)


def request_tokens(request: ChatRequest) -> int:
    """A rough count: a quarter of the characters, and a fixed sum for each medium."""
    tokens = 0
    for message in request.messages:
        for part in message.parts:
            if isinstance(part, TextPart):
                tokens += math.ceil(len(part.text) / CHARACTERS_PER_TOKEN)
            elif isinstance(part, MediaPart):
                tokens += TOKENS_PER_MEDIUM
    return tokens


def estimate(rows: int, samples: Sequence[CallSample]) -> Estimate:
    """What `rows` rows take, from the calls seen on a few of them."""
    calls = tokens = 0
    cost: float | None = 0.0
    seconds = 0.0
    for sample in samples:
        made = rows * sample.per_row
        calls += made
        read = _mean([request_tokens(r) for r in sample.requests]) * made
        written = sample.answer_tokens * made
        tokens += round(read + written)
        if sample.price_input is None or sample.price_output is None:
            cost = None
        elif cost is not None:
            cost += (read * sample.price_input + written * sample.price_output) / 1e6
        latency = sample.seconds if sample.seconds is not None else SECONDS_PER_CALL
        seconds += made * latency / max(1, sample.concurrency)
    return Estimate(calls, tokens, cost, seconds)


def _mean(values: Sequence[int]) -> float:
    return sum(values) / len(values) if values else 0.0
