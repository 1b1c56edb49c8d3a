"""Tables, static files, first project and sample: before the first start."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from portal.prepare import prepare


class Command(BaseCommand):
    help = "Prepares the database and the static files. Safe to run at every start."

    def handle(self, *_args: Any, **options: Any) -> None:
        prepare(verbosity=options["verbosity"])
