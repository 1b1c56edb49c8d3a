"""Write a run as Parquet. The web server calls it, so that pandas stays outside."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from evaluations.exports import write_parquet
from evaluations.models import Run


class Command(BaseCommand):
    help = "Writes a run (by its ref, evalrun_…) as a Parquet file."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("ref")
        parser.add_argument("path", type=Path)

    def handle(self, *_args: Any, **options: Any) -> None:
        run = Run.objects.filter(ref=options["ref"]).first()
        if run is None:
            raise CommandError(f"There is no run {options['ref']}.")
        write_parquet(run, options["path"])
