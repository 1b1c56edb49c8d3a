"""What a worker process does beside its tasks: signs of life, and a clean stop."""

from __future__ import annotations

import logging
import os
import threading
from datetime import datetime
from typing import Any

from celery import signals
from celery.bootsteps import RUN
from django.conf import settings
from django.db import DatabaseError, close_old_connections
from django.utils import timezone

from workspace.leases import process_name
from workspace.models import WorkerProcess

log = logging.getLogger("portal.worker")
_over = threading.Event()
_stopping = threading.Event()


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


def _beat(started: datetime, worker: Any) -> None:
    while not _over.is_set():
        if worker.blueprint.state != RUN and not _stopping.is_set():
            # The consumer ended by a fault; the runs in hand would keep the process
            # alive while it takes no work. Their leases are freed, another starts.
            log.critical("consumer_ended pid=%s", os.getpid())
            os._exit(70)
        try:
            close_old_connections()
            beat_once(started)
        except DatabaseError:
            log.warning("heartbeat_not_written", exc_info=True)
        _over.wait(settings.WORKER_HEARTBEAT_SECONDS)
    close_old_connections()


@signals.worker_ready.connect
def _on_ready(sender: Any, **_kwargs: Any) -> None:
    _over.clear()
    started = timezone.now()
    arguments = [started, sender.controller]
    threading.Thread(target=_beat, args=arguments, name="heart", daemon=True).start()


@signals.worker_shutting_down.connect
def _on_shutting_down(**_kwargs: Any) -> None:
    from evaluations import runner

    _stopping.set()
    runner.stop()


@signals.worker_shutdown.connect
def _on_shutdown(**_kwargs: Any) -> None:
    from evaluations import runner
    from targets.loop import stop_loop

    _over.set()
    runner.desk.close()
    stop_loop()
    WorkerProcess.objects.filter(name=process_name()).delete()
