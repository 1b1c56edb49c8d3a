"""Serve the simulated model on loopback."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from targets.simulator import serve


class Command(BaseCommand):
    help = "Serves a simulated model (OpenAI-compatible) on 127.0.0.1."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("port", type=int)
        parser.add_argument("--delay-ms", type=int, default=15)

    def handle(self, *_args: Any, **options: Any) -> None:
        serve(options["port"], delay_ms=options["delay_ms"])
