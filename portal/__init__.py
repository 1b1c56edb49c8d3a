"""The roof: settings, addresses, processes, health."""

from __future__ import annotations

from portal.celery import app as celery_app

__all__ = ["celery_app"]
