"""Private PostgreSQL and Redis servers on free ports, gone with the context."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from portal.supervisor import free_port
from tests.support.needs import postgres_bin, redis_path


@dataclass(frozen=True, slots=True)
class Services:
    database_url: str
    redis_url: str

    @property
    def env(self) -> dict[str, str]:
        return {"DATABASE_URL": self.database_url, "REDIS_URL": self.redis_url}


def _unprivileged() -> str | None:
    """PostgreSQL refuses root: the user to run it as, None when we are not root."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name).pw_name
    return "nobody"


@contextlib.contextmanager
def postgres() -> Iterator[str]:
    """A cluster of its own; yields the DATABASE_URL."""
    folder = Path(tempfile.mkdtemp(prefix="assay-pg-"))
    user, programs, port = _unprivileged(), postgres_bin(), free_port()
    if user:
        shutil.chown(folder, user)
    folder.chmod(0o700)
    data = folder / "data"
    common = {"user": user, "cwd": folder, "env": {**os.environ, "LC_ALL": "C.UTF-8"}}
    init = [programs / "initdb", "-D", data, "-U", "assay", "-A", "trust", "-E", "UTF8"]
    subprocess.run(init, check=True, stdout=subprocess.DEVNULL, **common)
    options = ["-c", "fsync=off", "-c", "listen_addresses=127.0.0.1"]
    options += ["-c", f"unix_socket_directories={folder}"]
    command = [programs / "postgres", "-D", data, "-p", str(port), *options]
    log = (folder / "log").open("wb")
    server = subprocess.Popen(command, stdout=log, stderr=log, **common)
    try:
        _wait_for_postgres(port)
        yield f"postgresql://assay@127.0.0.1:{port}/postgres"
    finally:
        server.send_signal(2)  # fast shutdown
        server.wait(timeout=20)
        log.close()
        shutil.rmtree(folder, ignore_errors=True)


def _wait_for_postgres(port: int) -> None:
    import psycopg

    until = time.monotonic() + 30
    while True:
        try:
            psycopg.connect(
                f"postgresql://assay@127.0.0.1:{port}/postgres", connect_timeout=2
            ).close()
            return
        except psycopg.OperationalError:
            if time.monotonic() > until:
                raise
            time.sleep(0.1)


@contextlib.contextmanager
def redis_server() -> Iterator[str]:
    """A server without a file; yields the REDIS_URL."""
    import redis

    folder = tempfile.mkdtemp(prefix="assay-redis-")
    port = free_port()
    command = [redis_path(), "--port", str(port), "--bind", "127.0.0.1", "--save", ""]
    server = subprocess.Popen(
        command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    url = f"redis://127.0.0.1:{port}/0"
    try:
        until = time.monotonic() + 15
        while True:
            try:
                redis.Redis.from_url(url).ping()
                break
            except redis.ConnectionError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.05)
        yield url
    finally:
        server.terminate()
        server.wait(timeout=10)
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def both() -> Iterator[Services]:
    with postgres() as database_url, redis_server() as redis_url:
        yield Services(database_url, redis_url)
