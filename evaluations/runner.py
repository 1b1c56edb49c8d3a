"""Working on a run: claim chunks, run their rows on the loop, hand events to the
writer, until nothing is left or somebody says stop.

The database is the truth. Whatever ends this process, the chunks that it held are
taken over when their lease is over, and go on where the last commit left them.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from dataclasses import dataclass
from time import monotonic
from typing import TypeVar

from django.conf import settings
from django.db.models import F

from assay.data.chat import ChatModel, ModelError
from assay.running.engine import Event, RowDone, run_rows
from evaluations import lifecycle, poison, summaries
from evaluations.claims import claim_chunk
from evaluations.models import Chunk, Run, RunState
from evaluations.models.run import ChunkState
from evaluations.planning import Loaded, load, plan_chunks
from evaluations.record import ChunkDone, Held, Writer
from targets.loop import ModelLoop, model_loop
from workspace.leases import FREE, renew

T = TypeVar("T")
log = logging.getLogger("evaluations.runner")

LOOK_SECONDS = 0.5
SUMMARY_SECONDS = 4.0


class _Desk:
    """Which runs this process works on, and whether it is asked to stop."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._busy: set[int] = set()
        self._writer: Writer | None = None
        self.stopping = threading.Event()

    def take(self, run_id: int) -> bool:
        with self._lock:
            full = len(self._busy) >= settings.RUN_THREADS
            if run_id in self._busy or full or self.stopping.is_set():
                return False
            self._busy.add(run_id)
            return True

    def give_back(self, run_id: int) -> None:
        with self._lock:
            self._busy.discard(run_id)

    def writer(self) -> Writer:
        with self._lock:
            if self._writer is None:
                self._writer = Writer()
            return self._writer

    def close(self) -> None:
        """Stop the writer after what it has; the next run starts another."""
        with self._lock:
            writer, self._writer = self._writer, None
        if writer is not None:
            writer.stop()


desk = _Desk()


def work(run_id: int) -> None:
    """Work on a run until nothing is left for this process. Safe to call twice.

    A process works on a run in one thread; a second doorbell returns at once.
    """
    if not desk.take(run_id):
        return
    try:
        run = lifecycle.start(run_id)
        if run is None:
            return
        if run.state == RunState.RUNNING:
            plan_chunks(run)
            Shift(load(run), model_loop(), desk.writer()).work()
        lifecycle.settle(run_id)
    finally:
        desk.give_back(run_id)


@dataclass(slots=True)
class Running:
    """A chunk in hand: what it needs to write, and its future on the loop."""

    held: Held
    future: Future[None]
    renewed: float
    rows_left: int


class _Services:
    """What the engine needs of the world, for one run."""

    def __init__(self, loaded: Loaded, loop: ModelLoop) -> None:
        self._loaded = loaded
        self._loop = loop

    def model(self, key: str) -> ChatModel:
        config = self._loaded.models.get(key)
        if config is None:
            sentence = (
                "The model of this run was deleted. Start a new run with another."
            )
            raise ModelError("model_gone", sentence, permanent=True, stops_run=True)
        return self._loop.gateway.model(config)

    async def compute(self, work: Callable[[], T]) -> T:
        return await self._loop.compute(work)


class Shift:
    """One process's work on one run, from its first claimed chunk to its last."""

    def __init__(self, loaded: Loaded, loop: ModelLoop, writer: Writer) -> None:
        self.loaded = loaded
        self.loop = loop
        self.writer = writer
        self.in_hand: list[Running] = []
        self.slots = asyncio.Semaphore(loaded.concurrency)
        self.summarised = monotonic()

    def work(self) -> None:
        """Returns when no chunk is left to claim, or the run must not go on."""
        try:
            while self._may_go_on():
                self._claim_enough()
                if not self.in_hand:
                    break
                self._look()
        finally:
            self._let_go()

    def _may_go_on(self) -> bool:
        if desk.stopping.is_set():
            return False
        run = Run.objects.get(pk=self.loaded.run.pk)
        if run.state != RunState.RUNNING:
            return False
        if run.max_cost is not None and run.cost >= run.max_cost:
            lifecycle.pause(
                run.pk,
                f"The cost limit of ${run.max_cost:.2f} is reached. {run.done} of "
                f"{run.total} rows are scored. Raise the limit to continue.",
            )
            return False
        return True

    def _claim_enough(self) -> None:
        """Claim until the rows in hand fill the concurrency, and a chunk more."""
        wanted = self.loaded.concurrency + 1
        while sum(r.rows_left for r in self.in_hand) < wanted:
            held = claim_chunk(self.loaded)
            if held is None:
                return
            self._submit(held)

    def _submit(self, held: Held) -> None:
        running = Running(held, Future(), monotonic(), len(held.tasks))

        def emit(event: Event) -> None:
            if isinstance(event, RowDone):
                running.rows_left -= 1
            self.writer.put(held, event)

        services = _Services(self.loaded, self.loop)
        running.future = self.loop.submit(
            run_rows(self.loaded.plan, held.tasks, services, emit, self.slots)
        )
        self.in_hand.append(running)

    def _look(self) -> None:
        """Wait a moment; collect what is done; renew what is not."""
        futures = [running.future for running in self.in_hand]
        wait(futures, timeout=LOOK_SECONDS, return_when=FIRST_COMPLETED)
        for running in list(self.in_hand):
            if running.future.done():
                self.in_hand.remove(running)
                self._collect(running)
            elif running.held.is_lost:
                self.in_hand.remove(running)
                running.future.cancel()
            elif monotonic() - running.renewed > settings.LEASE_SECONDS / 3:
                running.renewed = monotonic()
                running.held.is_lost = not renew(running.held.chunk)
        if monotonic() - self.summarised > SUMMARY_SECONDS:
            self.summarised = monotonic()
            summaries.refresh(self.loaded.run)

    def _collect(self, running: Running) -> None:
        try:
            running.future.result()
        except CancelledError:
            self._release(running)
            return
        except ModelError as error:
            self._release(running)
            lifecycle.pause(self.loaded.run.pk, error.sentence)
            return
        except Exception as error:
            log.exception("chunk_failed chunk=%s", running.held.chunk.pk)
            self.writer.flush()
            running.held.is_lost = True
            poison.after_failure(running.held.chunk, f"{type(error).__name__}: {error}")
            return
        self.writer.put(running.held, ChunkDone())

    def _release(self, running: Running) -> None:
        """Give a chunk back after its events are written. The try does not count."""
        self.writer.flush()
        chunk = running.held.chunk
        running.held.is_lost = True
        held = Chunk.objects.filter(pk=chunk.pk, lease=chunk.lease)
        held.filter(state=ChunkState.LEASED).update(
            state=ChunkState.PENDING, attempts=F("attempts") - 1, **FREE
        )

    def _let_go(self) -> None:
        """Abandon calls in flight; what is done is kept, the rest is given back."""
        for running in self.in_hand:
            running.future.cancel()
        wait([running.future for running in self.in_hand], timeout=5)
        for running in self.in_hand:
            if running.future.done() and not running.future.cancelled():
                self._collect(running)
            else:
                self._release(running)
        self.in_hand.clear()
        self.writer.flush()


def stop() -> None:
    """Asked to stop: no more claims; calls in flight are abandoned."""
    desk.stopping.set()
