"""Write a version as Parquet. The web server calls it: pyarrow stays outside."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from datasets.downloads import write_parquet
from datasets.models import DatasetVersion


class Command(BaseCommand):
    help = "Writes a dataset version (by its ref, dsver_…) as a Parquet file."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("ref")
        parser.add_argument("path", type=Path)

    def handle(self, *_args: Any, **options: Any) -> None:
        version = DatasetVersion.objects.filter(ref=options["ref"]).first()
        if version is None:
            raise CommandError(f"There is no version {options['ref']}.")
        write_parquet(version, options["path"])
