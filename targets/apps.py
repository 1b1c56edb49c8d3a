from __future__ import annotations

from django.apps import AppConfig


class TargetsConfig(AppConfig):
    name = "targets"
