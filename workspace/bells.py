"""Doorbells: a message that says "there is work", sent once the work is committed.

A message that cannot be sent is logged and forgotten: the database has the work and
the sweep rings again within seconds.
"""

from __future__ import annotations

import logging

from celery import current_app
from django.db import transaction
from kombu.exceptions import OperationalError

log = logging.getLogger("workspace.bells")


def ring(task: str, job_id: int, *, times: int = 1) -> None:
    """Send `task` with one id, after the transaction that is open now."""

    def send() -> None:
        try:
            for _ in range(times):
                current_app.send_task(task, args=[job_id])
        except (OperationalError, OSError):
            log.warning("bell_not_rung task=%s id=%s", task, job_id, exc_info=True)

    transaction.on_commit(send)
