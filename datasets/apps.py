"""Datasets: upload, immutable versions, rows."""

from __future__ import annotations

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _

from workspace.navigation import Entry, register


class DatasetsConfig(AppConfig):
    name = "datasets"

    def ready(self) -> None:
        register(
            Entry(
                order=30,
                group="",
                label=_("Datasets"),
                icon="data",
                url_name="datasets",
                area="datasets",
            )
        )
