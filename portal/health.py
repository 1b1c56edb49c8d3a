"""Is the portal healthy: database, broker, live workers."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import redis
from django.conf import settings
from django.db import DatabaseError, connection
from django.utils import timezone

from workspace.models import WorkerProcess


@dataclass(frozen=True, slots=True)
class Report:
    """`down` maps a part to what is wrong with it."""

    parts: dict[str, Any]
    down: dict[str, str] = field(default_factory=dict)

    @property
    def is_healthy(self) -> bool:
        return not self.down

    def as_json(self) -> dict[str, Any]:
        status = "ok" if self.is_healthy else "down"
        return {"status": status, **self.parts, "down": self.down}


def _database() -> str | None:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
            cursor.fetchone()
    except DatabaseError as error:
        return f"The database does not answer: {type(error).__name__}."
    return None


def _broker() -> str | None:
    if not settings.REDIS_URL:
        folder = Path(settings.CELERY_BROKER_TRANSPORT_OPTIONS["data_folder_in"])
        return None if folder.is_dir() else f"The folder {folder.name} is missing."
    try:
        client = redis.Redis.from_url(settings.REDIS_URL, socket_timeout=2)
        client.ping()
        client.close()
    except (redis.RedisError, OSError) as error:
        return f"Redis does not answer: {type(error).__name__}."
    return None


def live_workers() -> list[str]:
    """Names of the worker processes that gave a sign of life lately."""
    since = timezone.now() - timedelta(seconds=settings.WORKER_HEARTBEAT_SECONDS * 4)
    seen = WorkerProcess.objects.filter(seen_at__gt=since).order_by("name")
    return list(seen.values_list("name", flat=True))


def check() -> Report:
    down = {}
    if problem := _database():
        down["database"] = problem
    if problem := _broker():
        down["broker"] = problem
    workers: list[str] = []
    if "database" not in down:
        workers = live_workers()
        if not workers:
            down["workers"] = "No worker is running. Jobs wait until one starts."
    parts = {
        "database": connection.vendor,
        "broker": "redis" if settings.REDIS_URL else "files",
        "workers": workers,
    }
    return Report(parts, down)
