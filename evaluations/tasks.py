"""Doorbells of this app."""

from __future__ import annotations

from celery import shared_task

from evaluations import runner


@shared_task
def work(run_id: int) -> None:
    runner.work(run_id)
