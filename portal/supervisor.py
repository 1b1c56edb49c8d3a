"""One process tree: the simulator, the worker with its scheduler, and the web server.

A part that stops is started again, after a pause that grows while it keeps failing.
Children are told to end when this process ends, however it ends.
"""

from __future__ import annotations

import ctypes
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from time import monotonic

log = logging.getLogger("portal.supervisor")

STOP_SECONDS = 10.0
LONGEST_PAUSE = 30.0
GOOD_RUN_SECONDS = 20.0
PR_SET_PDEATHSIG = 1


def _end_with_parent() -> None:
    """In the child: ask the kernel for SIGTERM when the parent is gone (Linux only)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def free_port() -> int:
    """A port on loopback that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def port_is_free(host: str, port: int) -> bool:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def is_open(host: str, port: int) -> bool:
    """True when something accepts connections there."""
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.settimeout(0.5)
        target = host if host not in {"", "0.0.0.0"} else "127.0.0.1"  # noqa: S104 - compared, not bound
        return probe.connect_ex((target, port)) == 0


@dataclass(slots=True)
class Part:
    """One child: how to start it, and what to do when it was found dead."""

    name: str
    command: list[str]
    on_death: Callable[[int], None] | None = None
    process: subprocess.Popen[bytes] | None = None
    started: float = 0.0
    failures: int = 0
    start_at: float = field(default=0.0)


class Supervisor:
    """`announce` is called once, when `ready` says that the portal can be used."""

    def __init__(
        self,
        parts: list[Part],
        env: Mapping[str, str],
        *,
        ready: Callable[[], bool] | None = None,
        announce: Callable[[], None] | None = None,
    ) -> None:
        self.parts = parts
        self.env = {**os.environ, **env}
        self._ready, self._announce = ready, announce
        self._stop = threading.Event()

    def run(self) -> None:
        """Start all parts and keep them running until SIGINT or SIGTERM."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._asked_to_stop)
        try:
            while not self._stop.is_set():
                for part in self.parts:
                    self._look_after(part)
                if self._announce and self._ready and self._ready():
                    self._announce()
                    self._announce = None
                self._stop.wait(0.2)
        finally:
            self._end_all()

    def _asked_to_stop(self, _number: int, _frame: object) -> None:
        self._stop.set()

    def _look_after(self, part: Part) -> None:
        if part.process is None:
            if monotonic() >= part.start_at:
                self._start(part)
            return
        code = part.process.poll()
        if code is None:
            return
        pid, part.process = part.process.pid, None
        _kill_group(pid)  # what it left behind
        lived = monotonic() - part.started
        part.failures = 0 if lived > GOOD_RUN_SECONDS else part.failures + 1
        pause = min(LONGEST_PAUSE, 0.5 * 2**part.failures)
        part.start_at = monotonic() + pause
        log.warning(
            "part_stopped name=%s code=%s starting again in %.1f s",
            part.name,
            code,
            pause,
        )
        if part.on_death:
            try:
                part.on_death(pid)
            except Exception:
                log.exception("after_death_failed name=%s", part.name)

    def _start(self, part: Part) -> None:
        part.process = subprocess.Popen(  # noqa: S603 - our own commands
            part.command,
            env=self.env,
            start_new_session=True,
            preexec_fn=_end_with_parent,
        )
        part.started = monotonic()

    def _end_all(self) -> None:
        """SIGTERM to all, and SIGKILL to what is still there after ten seconds."""
        alive = [part for part in self.parts if part.process]
        for part in alive:
            assert part.process is not None
            if part.process.poll() is None:
                part.process.terminate()
        until = monotonic() + STOP_SECONDS
        for part in alive:
            assert part.process is not None
            try:
                part.process.wait(timeout=max(0.1, until - monotonic()))
            except subprocess.TimeoutExpired:
                log.warning("part_killed name=%s", part.name)
                _kill_group(part.process.pid)
                part.process.wait()
            _kill_group(part.process.pid)


def _kill_group(pid: int) -> None:
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        return  # nothing is left of it
