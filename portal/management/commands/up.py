"""Start everything: `python manage.py up`."""

from __future__ import annotations

import fcntl
import logging
import os
import socket
import sys
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import close_old_connections, connections

from evaluations.lifecycle import free_leases_of
from portal.prepare import prepare
from portal.supervisor import Part, Supervisor, free_port, is_open, port_is_free
from portal.upkeep import drop_leftovers
from workspace.models import WorkerProcess
from workspace.signin import make_token, sign_in_address

log = logging.getLogger("portal.up")


CELERY = [
    sys.executable,
    "-W",
    "ignore:You're running the worker with superuser privileges",
    "-m",
    "celery",
    "-A",
    "portal",
    "--quiet",
]


def worker_command() -> list[str]:
    threads = settings.RUN_THREADS + settings.INTERACTIVE_THREADS
    return [
        *CELERY, "worker",
        "--pool", "threads", "--concurrency", str(threads),
        "--queues", "runs,interactive",
        "--without-gossip", "--without-mingle", "--loglevel", "WARNING",
    ]  # fmt: skip


def scheduler_command() -> list[str]:
    return [
        *CELERY, "beat",
        "--schedule", settings.CELERY_BEAT_SCHEDULE_FILENAME,
        "--pidfile", "", "--loglevel", "WARNING",
    ]  # fmt: skip


def web_command(host: str, port: int) -> list[str]:
    bind = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    return [
        sys.executable, "-m", "gunicorn", "portal.wsgi:application",
        "--bind", bind, "--workers", "2", "--worker-class", "gthread",
        "--threads", "8", "--timeout", "120", "--graceful-timeout", "5",
        "--no-control-socket", "--log-level", "warning",
    ]  # fmt: skip


def free_leases(pid: int) -> None:
    """The rows of a dead worker go on at once, not when its lease ends."""
    name = f"{socket.gethostname()[:50]}:{pid}"
    close_old_connections()
    freed = free_leases_of(name)
    WorkerProcess.objects.filter(name=name).delete()
    connections.close_all()
    log.warning("worker_died pid=%s chunks_freed=%s", pid, freed)


class Command(BaseCommand):
    help = "Starts the portal: web server, worker, scheduler and simulator."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--no-simulator",
            action="store_true",
            help="Do not start the simulated model.",
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        os.umask(0o077)  # data of people: for this user only
        host, port = settings.HOST, settings.PORT
        lock = self._lock()
        if not port_is_free(host, port):
            raise CommandError(
                f"Port {port} is in use. Stop what runs there, or choose another: "
                "PORT=8001 make run"
            )
        drop_leftovers(older_than_seconds=0)
        _project, owner = prepare()
        address = sign_in_address(make_token(owner))
        connections.close_all()
        parts = [
            Part("worker", worker_command(), on_death=free_leases),
            Part("scheduler", scheduler_command()),
            Part("web", web_command(host, port)),
        ]
        env = {"ASSAY_SIMULATOR_URL": ""}
        if not options["no_simulator"]:
            simulator_port = free_port()
            env["ASSAY_SIMULATOR_URL"] = f"http://127.0.0.1:{simulator_port}/v1"
            command = [sys.executable, "manage.py", "simulator", str(simulator_port)]
            parts.insert(0, Part("simulator", command))
        name = settings.PRODUCT_NAME
        self.stdout.write(f"{name} is starting. Data: {settings.DATA_DIR}")
        self.stdout.flush()

        def announce() -> None:
            self.stdout.write(
                f"\n{name} is ready. Open this address to sign in "
                f"(it works once, for a day):\n\n    {address}\n\n"
                "Another one: python manage.py signin_link. Ctrl-C stops everything.\n"
            )
            self.stdout.flush()

        Supervisor(
            parts, env, ready=lambda: is_open(host, port), announce=announce
        ).run()
        lock.close()

    def _lock(self) -> Any:
        """One portal per data folder: two would fight over the same files."""
        handle = (settings.DATA_DIR / "up.lock").open("w")
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise CommandError(
                f"The portal already runs on {settings.DATA_DIR}. Stop it first, or "
                "set ASSAY_DATA_DIR to another folder."
            ) from None
        return handle
