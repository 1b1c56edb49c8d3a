"""Never more calls at once, requests or tokens per minute than allowed."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from targets import limiter as limiter_module
from targets.limiter import Concurrency, Limiter, Rate
from tests.fakes.llm import Answer, FakeLLM, error, verdict
from tests.targets.conftest import say


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@settings(max_examples=150, deadline=None)
@given(
    per_minute=st.integers(1, 600),
    burst=st.integers(1, 50),
    steps=st.lists(
        st.tuples(st.floats(0, 20), st.integers(1, 30)), min_size=1, max_size=60
    ),
)
def test_a_rate_is_never_exceeded(per_minute, burst, steps):
    """In any window of t seconds at most burst + t × rate units begin, beyond the
    size of the last request itself."""
    clock = Clock()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(limiter_module, "monotonic", clock)
        rate = Rate(per_minute, burst=burst)
        starts = []
        for pause, units in steps:
            clock.now += pause
            starts.append((clock.now + rate.reserve(units), units))
    for first in range(len(starts)):
        for last in range(first, len(starts)):
            window = starts[last][0] - starts[first][0]
            # The units of the last request are spent after its start.
            spent = sum(units for _at, units in starts[first:last])
            assert spent <= burst - 1 + per_minute / 60 * window + 1e-6


@given(units=st.lists(st.integers(1, 10**6), max_size=20))
def test_without_a_limit_nobody_waits(units):
    rate = Rate(None)
    assert all(rate.reserve(n) == 0 for n in units)


def test_concurrency_is_never_exceeded_and_reached(lab):
    def script(_body, _n):
        return Answer("ok", delay=0.03)

    with FakeLLM(script) as fake:
        requests = [say(str(n)) for n in range(30)]
        lab.ask(fake.url, *requests, limits={"concurrency": 5})
    assert fake.most_at_once == 5


def test_the_ceiling_of_the_connection_counts(lab):
    with FakeLLM(lambda _b, _n: Answer("ok", delay=0.03)) as fake:
        requests = [say(str(n)) for n in range(12)]
        lab.ask(fake.url, *requests, limits={"concurrency": 9}, ceiling=2)
    assert fake.most_at_once == 2


def test_a_burst_of_refusals_halves_the_calls_once():
    gate = Concurrency(32)
    for _ in range(32):
        gate.press(0.0)
    assert gate.allowed == 16
    gate.press(10.0**12)
    assert gate.allowed == 8
    for _ in range(200):
        gate.relax()
    assert gate.allowed > 16


def test_a_canceled_waiter_gives_its_place_back():
    async def work():
        gate = Concurrency(1)
        await gate.acquire()
        waiting = [asyncio.ensure_future(gate.acquire()) for _ in range(3)]
        await asyncio.sleep(0)
        waiting[0].cancel()
        await asyncio.sleep(0)
        gate.release()
        waiting[1].cancel()  # it holds the place already, or is about to
        await asyncio.sleep(0)
        if not waiting[1].cancelled():
            gate.release()
        await asyncio.wait_for(waiting[2], 1)

    asyncio.run(work())


def test_requests_per_minute_space_the_calls(lab):
    with FakeLLM() as fake:
        started = asyncio.run(_timed(lab, fake.url, {"requests_per_minute": 600}))
    assert started >= 0.5


def test_tokens_per_minute_space_the_calls(lab):
    with FakeLLM() as fake:
        text = "x" * 5200  # 1,300 tokens; six seconds of the rate may go at once
        took = asyncio.run(_timed(lab, fake.url, {"tokens_per_minute": 60_000}, text))
    assert took >= 0.45


async def _timed(lab, url, limits, text="Hello") -> float:
    def work() -> float:
        from time import monotonic

        started = monotonic()
        lab.ask(url, *[say(text) for _ in range(6)], limits=limits)
        return monotonic() - started

    return await asyncio.to_thread(work)


def test_a_hold_that_comes_while_waiting_is_kept():
    async def work():
        limiter = Limiter(concurrency=2, requests_per_minute=600)
        loop = asyncio.get_running_loop()
        async with limiter.slot(1):
            pass
        started = loop.time()
        loop.call_later(0.02, limiter.hold, 0.3)
        async with limiter.slot(1):
            return loop.time() - started

    assert asyncio.run(work()) >= 0.3


def test_limited_calls_slow_down_and_all_succeed(lab):
    refused = []

    def script(_body, n):
        if n < 8:
            refused.append(n)
            return error(429, "Rate limit")
        return verdict()

    with FakeLLM(script) as fake:
        requests = [say(str(n)) for n in range(20)]
        replies = lab.ask(fake.url, *requests, limits={"concurrency": 8})
    assert len(replies) == 20
    assert len(refused) == 8
