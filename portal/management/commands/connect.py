"""Connect a model from a script: `manage.py connect NAME --base-url URL --model M`."""

from __future__ import annotations

import os
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from targets.connections import add_deployment, save_connection
from targets.models import Connection
from workspace.models import Project
from workspace.signin import ensure_first_project


class Command(BaseCommand):
    help = "Makes or changes a connection and adds a model to it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name")
        parser.add_argument("--base-url", required=True)
        parser.add_argument("--model", required=True)
        parser.add_argument(
            "--key-env",
            default="OPENAI_API_KEY",
            help="The environment variable that holds the key.",
        )
        parser.add_argument(
            "--azure-api-version", help="Makes an Azure OpenAI connection."
        )
        parser.add_argument("--project", help="Slug. Default: the first project.")

    def handle(self, *_args: Any, **options: Any) -> None:
        project, owner = self._project(options["project"])
        connection = Connection.objects.filter(
            project=project, name__iexact=options["name"]
        ).first() or Connection(project=project, name=options["name"], created_by=owner)
        if connection.is_simulated:
            raise CommandError("The simulator's connection cannot be changed.")
        azure = options["azure_api_version"]
        connection.kind = Connection.Kind.AZURE if azure else Connection.Kind.OPENAI
        connection.api_version = azure or ""
        connection.base_url = options["base_url"]
        key = os.environ.get(options["key_env"])
        save_connection(connection, key=key)
        model = options["model"]
        if not connection.deployments.filter(model=model).exists():
            add_deployment(connection, model)
        hint = f"key from {options['key_env']}" if key else "no key"
        where = f"{connection.name} at {connection.base_url}"
        self.stdout.write(f"Connected {where} with {model} ({hint}).")

    def _project(self, slug: str | None) -> tuple[Project, Any]:
        if not slug:
            return ensure_first_project()
        project = Project.objects.filter(slug=slug).first()
        if project is None:
            raise CommandError(f"There is no project {slug}.")
        return project, None
