from __future__ import annotations

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _

from workspace.navigation import Entry, register


class TargetsConfig(AppConfig):
    name = "targets"

    def ready(self) -> None:
        register(
            Entry(
                order=60,
                group="targets",
                label=_("Models"),
                icon="cube",
                url_name="models",
                area="models",
            )
        )
