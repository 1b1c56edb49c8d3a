"""How many calls at once, how many requests and tokens per minute.

In one process these limits are exact. Every model call of an embedded portal is made
by one worker process.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from time import monotonic


class Rate:
    """Spacing by the generic cell rate algorithm (GCRA): one number, exact rate.

    `per_minute` units may pass in any minute, `burst` of them at once.
    """

    def __init__(self, per_minute: float | None, *, burst: float = 1.0) -> None:
        self._interval = 60.0 / per_minute if per_minute else 0.0
        self._slack = self._interval * max(burst - 1.0, 0.0)
        self._next = 0.0

    def reserve(self, units: float = 1.0) -> float:
        """Take `units`; returns the seconds to wait before using them."""
        if not self._interval:
            return 0.0
        now = monotonic()
        start = max(self._next, now - self._slack)
        self._next = start + self._interval * units
        return max(0.0, start - now)


class Concurrency:
    """A limit that halves under pressure and grows back with success."""

    def __init__(self, limit: int) -> None:
        self.ceiling = max(1, limit)
        self._allowed = float(self.ceiling)
        self._in_use = 0
        self._pressed_at = 0.0
        self._waiting: deque[asyncio.Future[None]] = deque()

    @property
    def allowed(self) -> int:
        return max(1, int(self._allowed))

    async def acquire(self) -> None:
        if self._in_use < self.allowed and not self._waiting:
            self._in_use += 1
            return
        ticket: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(ticket)
        try:
            await ticket
        except asyncio.CancelledError:
            if ticket.done() and not ticket.cancelled():
                self.release()
            raise

    def release(self) -> None:
        self._in_use -= 1
        self._wake()

    def _wake(self) -> None:
        while self._waiting and self._in_use < self.allowed:
            ticket = self._waiting.popleft()
            if not ticket.done():
                self._in_use += 1
                ticket.set_result(None)

    def press(self, started: float) -> None:
        """The endpoint is overloaded: half of the calls from now on.

        Calls that had `started` before the last halving say nothing new.
        """
        if started >= self._pressed_at:
            self._pressed_at = monotonic()
            self._allowed = max(1.0, self._allowed / 2)

    def relax(self) -> None:
        """A call went well: grow back by one for each round of calls."""
        if self._allowed < self.ceiling:
            self._allowed = min(self.ceiling, self._allowed + 1 / self._allowed)
            self._wake()


class Limiter:
    """All limits of one deployment, and the hold that a 429 asks for."""

    def __init__(
        self,
        *,
        concurrency: int,
        requests_per_minute: float | None = None,
        tokens_per_minute: float | None = None,
    ) -> None:
        self.concurrency = Concurrency(concurrency)
        self._requests = Rate(requests_per_minute)
        self._tokens = Rate(tokens_per_minute, burst=(tokens_per_minute or 0) / 10)
        self._hold_until = 0.0

    def hold(self, seconds: float) -> None:
        """Nobody calls before `seconds` have passed."""
        self._hold_until = max(self._hold_until, monotonic() + seconds)

    @asynccontextmanager
    async def slot(self, tokens: int) -> AsyncIterator[None]:
        """Wait for a place; `tokens` is what the call will roughly read."""
        await self.concurrency.acquire()
        try:
            await self._wait(tokens)
            yield
        finally:
            self.concurrency.release()

    async def _wait(self, tokens: int) -> None:
        """Wait for the hold, then for the rates; again if a hold came meanwhile."""
        while True:
            while (rest := self._hold_until - monotonic()) > 0:
                await asyncio.sleep(rest)
            wait = max(self._requests.reserve(), self._tokens.reserve(tokens))
            if wait > 0:
                await asyncio.sleep(wait)
            if self._hold_until <= monotonic():
                return
