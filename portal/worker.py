"""What a worker process does beside its tasks: signs of life, and a clean stop."""

from __future__ import annotations

import logging
import os
import threading
from datetime import datetime
from typing import Any

from celery import signals
from django.conf import settings
from django.db import DatabaseError, close_old_connections
from django.utils import timezone

from workspace.leases import process_name
from workspace.models import WorkerProcess

log = logging.getLogger("portal.worker")
_over = threading.Event()


def beat_once(started: datetime) -> None:
    """Say that this process is alive."""
    WorkerProcess.objects.update_or_create(
        name=process_name(),
        defaults={
            "pid": os.getpid(),
            "started_at": started,
            "seen_at": timezone.now(),
        },
    )


def _beat(started: datetime) -> None:
    while not _over.is_set():
        try:
            close_old_connections()
            beat_once(started)
        except DatabaseError:
            log.warning("heartbeat_not_written", exc_info=True)
        _over.wait(settings.WORKER_HEARTBEAT_SECONDS)
    close_old_connections()


@signals.worker_ready.connect
def _on_ready(**_kwargs: Any) -> None:
    _over.clear()
    started = timezone.now()
    threading.Thread(target=_beat, args=[started], name="heart", daemon=True).start()


@signals.worker_shutting_down.connect
def _on_shutting_down(**_kwargs: Any) -> None:
    from evaluations import runner

    runner.stop()


@signals.worker_shutdown.connect
def _on_shutdown(**_kwargs: Any) -> None:
    from evaluations import runner
    from targets.loop import stop_loop

    _over.set()
    runner.desk.close()
    stop_loop()
    WorkerProcess.objects.filter(name=process_name()).delete()
