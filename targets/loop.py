"""One event loop per process, in a thread of its own, living as long as the process.

It owns the gateway: its clients and limiters are bound to it. Other threads hand in
coroutines and wait.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from django.db import close_old_connections, transaction

from targets.gateway import Gateway
from targets.models import Deployment

T = TypeVar("T")
log = logging.getLogger("targets.loop")


class ModelLoop:
    """The loop, its gateway, and a thread for arithmetic."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._compute = ThreadPoolExecutor(1, thread_name_prefix="compute")
        self._database = ThreadPoolExecutor(1, thread_name_prefix="learn")
        self._thread = threading.Thread(
            target=self._run, name="model-loop", daemon=True
        )
        self._thread.start()
        self.gateway = Gateway(self._learn)

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.run_forever()

    def submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        return asyncio.run_coroutine_threadsafe(work, self.loop)

    async def compute(self, work: Callable[[], T]) -> T:
        """Run arithmetic in a thread, so that calls in flight are not held up."""
        return await self.loop.run_in_executor(self._compute, work)

    def _learn(self, deployment: int, changed: dict[str, Any]) -> None:
        self._database.submit(remember, deployment, changed)

    def stop(self) -> None:
        """End the thread. Stopping twice does nothing."""
        if not self._thread.is_alive():
            return
        with contextlib.suppress(TimeoutError):
            self.submit(self.gateway.close()).result(timeout=5)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(timeout=5)
        self._compute.shutdown(wait=False, cancel_futures=True)
        self._database.shutdown(wait=True)


def remember(deployment: int, changed: dict[str, Any]) -> None:
    """Merge what a call taught into the deployment's capabilities."""
    close_old_connections()
    try:
        with transaction.atomic():
            found = Deployment.objects.select_for_update().filter(pk=deployment).first()
            if found is None:
                return
            merged = {**found.capabilities, **changed}
            refused = set(found.capabilities.get("refused", ()))
            if refused | set(changed.get("refused", ())):
                merged["refused"] = sorted(refused | set(changed.get("refused", ())))
            found.capabilities = merged
            found.save(update_fields=["capabilities", "updated_at"])
        log.info("capabilities_learned deployment=%s changed=%s", deployment, changed)
    finally:
        close_old_connections()


_lock = threading.Lock()
_current: ModelLoop | None = None


def model_loop() -> ModelLoop:
    """The loop of this process, started at first use."""
    global _current  # noqa: PLW0603 - one per process is the point
    with _lock:
        if _current is None:
            _current = ModelLoop()
        return _current


def stop_loop() -> None:
    """End the loop of this process, if there is one."""
    global _current  # noqa: PLW0603 - one per process is the point
    with _lock:
        ending, _current = _current, None
    if ending is not None:
        ending.stop()
