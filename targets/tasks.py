"""Doorbells of this app."""

from __future__ import annotations

from celery import shared_task

from targets import dial


@shared_task
def run_test_call(job_id: int) -> None:
    dial.run(job_id)
