from __future__ import annotations

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _

from workspace.navigation import Entry, register


class EvaluatorsConfig(AppConfig):
    name = "evaluators"

    def ready(self) -> None:
        register(
            Entry(
                order=20,
                group="",
                label=_("Evaluators"),
                icon="rubric",
                url_name="evaluators",
                area="evaluators",
            )
        )
