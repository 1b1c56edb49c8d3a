"""What the scheduler rings for."""

from __future__ import annotations

from celery import shared_task

from portal import upkeep


@shared_task
def sweep() -> None:
    upkeep.sweep()


@shared_task
def housekeeping() -> None:
    upkeep.housekeeping()
