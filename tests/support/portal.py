"""The product as a user starts it: one process tree, its own data folder and port."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from portal.supervisor import free_port

ROOT = Path(__file__).resolve().parent.parent.parent


class RunningPortal:
    """A portal started by `manage.py up`."""

    def __init__(self, env: Mapping[str, str] | None = None) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="assay-portal-"))
        self.port = free_port()
        clean = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("ASSAY_", "DJANGO_", "OPENAI_"))
            and name not in {"DATABASE_URL", "REDIS_URL", "PORT"}
        }
        self.env = {
            **clean,
            "ASSAY_DATA_DIR": str(self.folder / "data"),
            "PORT": str(self.port),
            "ASSAY_LEASE_SECONDS": "6",
            "ASSAY_SWEEP_SECONDS": "2",
            "PYTHONUNBUFFERED": "1",
            **(env or {}),
        }
        self.process: subprocess.Popen[bytes] | None = None
        self.log = self.folder / "log.txt"

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self, *arguments: str) -> None:
        with self.log.open("ab") as out:
            self.process = subprocess.Popen(
                [sys.executable, "manage.py", "up", *arguments],
                cwd=ROOT,
                env=self.env,
                stdout=out,
                stderr=subprocess.STDOUT,
            )
        self.wait_healthy()

    def wait_healthy(self, seconds: float = 60) -> dict[str, Any]:
        until = time.monotonic() + seconds
        report: dict[str, Any] = {}
        while time.monotonic() < until:
            status, report = self.health()
            if status == 200:
                return report
            if self.process is not None and self.process.poll() is not None:
                break
            time.sleep(0.2)
        raise AssertionError(f"Not healthy: {report}\n{self.log_text()}")

    def health(self) -> tuple[int, dict[str, Any]]:
        try:
            with urllib.request.urlopen(f"{self.url}/healthz", timeout=5) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)
        except (OSError, ValueError):
            return 0, {}

    def log_text(self) -> str:
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    def sign_in_address(self) -> str:
        """The last address that the start printed."""
        found = re.findall(r"http://\S+/sign-in/\?token=\S+", self.log_text())
        return found[-1]

    def manage(self, *arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT,
            env=self.env,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def shell(self, code: str) -> Any:
        """Run Python inside the product; the code prints JSON as its last line."""
        return json.loads(self.manage("shell", "-v", "0", "-c", code).splitlines()[-1])

    def worker_pid(self) -> int:
        """The process id of the live worker."""
        _status, report = self.health()
        return int(report["workers"][0].rpartition(":")[2])

    def stop(self, number: int = signal.SIGTERM) -> float:
        """Stop the tree; returns the seconds that it took."""
        if self.process is None:
            return 0.0
        started = time.monotonic()
        if self.process.poll() is None:
            self.process.send_signal(number)
        self.process.wait(timeout=30)
        self.process = None
        return time.monotonic() - started


@contextlib.contextmanager
def running_portal(
    env: Mapping[str, str] | None = None, *arguments: str
) -> Iterator[RunningPortal]:
    portal = RunningPortal(env)
    try:
        portal.start(*arguments)
        yield portal
    finally:
        portal.stop()
        shutil.rmtree(portal.folder, ignore_errors=True)
