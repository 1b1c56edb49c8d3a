"""Serve the simulated model, on loopback unless told otherwise."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from targets.simulator import serve


class Command(BaseCommand):
    help = "Serves a simulated model (OpenAI-compatible)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("port", type=int)
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--delay-ms", type=int, default=15)

    def handle(self, *_args: Any, **options: Any) -> None:
        serve(options["port"], host=options["host"], delay_ms=options["delay_ms"])
