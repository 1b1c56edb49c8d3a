"""The Celery application. Messages carry ids only; the database is the truth."""

from __future__ import annotations

import os

from celery import Celery

from portal import filebroker

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")

filebroker.register()
app = Celery("assay")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.conf.imports = ["portal.worker"]


@app.on_after_finalize.connect
def _schedule(sender: Celery, **_kwargs: object) -> None:
    """What beat rings for. A message that no worker took in time is dropped."""
    from django.conf import settings

    every = settings.SWEEP_SECONDS
    sender.conf.beat_schedule = {
        "sweep": {
            "task": "portal.tasks.sweep",
            "schedule": every,
            "options": {"expires": every},
        },
        "housekeeping": {
            "task": "portal.tasks.housekeeping",
            "schedule": 6 * 3600,
            "options": {"expires": 3600},
        },
    }
