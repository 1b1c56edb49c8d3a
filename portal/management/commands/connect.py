"""Connect a model from a script: `manage.py connect NAME --base-url URL --model M`."""

from __future__ import annotations

import os
from argparse import ArgumentParser
from decimal import Decimal, InvalidOperation
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from targets.addresses import AddressError
from targets.connections import add_deployment, save_connection, save_deployment
from targets.models import Connection, Deployment
from targets.probe import probe
from workspace.models import Project, User
from workspace.signin import ensure_first_project

KEY_VARIABLE = "OPENAI_API_KEY"
LIMITS = ("concurrency", "requests_per_minute", "tokens_per_minute")
PRICES = ("price_input", "price_output")


class Command(BaseCommand):
    help = "Makes or changes a connection and adds a model to it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name")
        parser.add_argument("--base-url", required=True)
        parser.add_argument("--model", required=True)
        parser.add_argument("--display-name", help="Shown instead of the model's name.")
        key = parser.add_mutually_exclusive_group()
        key.add_argument(
            "--key-env",
            help="The environment variable that holds the key. "
            f"Default: {KEY_VARIABLE}, if there is one.",
        )
        key.add_argument("--no-key", action="store_true", help="The server needs none.")
        parser.add_argument(
            "--azure-api-version", help="Makes an Azure OpenAI connection."
        )
        for name in PRICES:
            help_text = "Dollars per million tokens."
            parser.add_argument(f"--{name.replace('_', '-')}", help=help_text)
        for name in LIMITS:
            parser.add_argument(f"--{name.replace('_', '-')}", type=int)
        parser.add_argument("--project", help="Slug. Default: the first project.")
        parser.add_argument("--test", action="store_true", help="Make real test calls.")

    def handle(self, *_args: Any, **options: Any) -> None:
        fields = _fields(options)
        key, hint = _key(options)
        connection = self._connection(options, key)
        deployment = connection.deployments.filter(model=options["model"]).first()
        if deployment is None:
            deployment = add_deployment(connection, options["model"], **fields)
        elif fields:
            limits = {**deployment.limits, **fields.pop("limits", {})}
            for name, value in {**fields, "limits": limits}.items():
                setattr(deployment, name, value)
            save_deployment(deployment)
        where = f"{connection.name} at {connection.base_url}"
        self.stdout.write(f"Connected {where} with {deployment.model} ({hint}).")
        if options["test"]:
            self._test(deployment)

    def _connection(self, options: dict[str, Any], key: str | None) -> Connection:
        project, owner = _project(options["project"])
        connection = Connection.objects.filter(
            project=project, name__iexact=options["name"]
        ).first() or Connection(project=project, name=options["name"], created_by=owner)
        if connection.is_simulated:
            raise CommandError("The simulator's connection cannot be changed.")
        azure = options["azure_api_version"]
        connection.kind = Connection.Kind.AZURE if azure else Connection.Kind.OPENAI
        connection.api_version = azure or ""
        connection.base_url = options["base_url"]
        try:
            return save_connection(connection, key=key)
        except AddressError as error:
            raise CommandError(str(error)) from None

    def _test(self, deployment: Deployment) -> None:
        result = probe(deployment)
        for check in result["checks"]:
            took = f"yes, {check['milliseconds']} ms"
            said = took if check["ok"] else f"no. {check['error']}"
            self.stdout.write(f"  {check['name']}: {said}")
        if not result["ok"]:
            raise CommandError("The test failed. The connection is saved.")


def _key(options: dict[str, Any]) -> tuple[str | None, str]:
    """The key (None keeps a stored one), and words for where it came from."""
    if options["no_key"]:
        return "", "no key"
    variable = options["key_env"] or KEY_VARIABLE
    key = os.environ.get(variable, "").strip()
    if key:
        return key, f"key from {variable}"
    if options["key_env"]:
        raise CommandError(f"The environment variable {variable} is empty.")
    return None, "no key"


def _fields(options: dict[str, Any]) -> dict[str, Any]:
    """Those fields of the model that were given."""
    fields: dict[str, Any] = {}
    if options["display_name"]:
        fields["display_name"] = options["display_name"]
    for name in PRICES:
        if options[name] is not None:
            fields[name] = _price(options[name])
    limits = {name: options[name] for name in LIMITS if options[name] is not None}
    if any(value < 1 for value in limits.values()):
        raise CommandError("Limits must be 1 or more.")
    return {**fields, "limits": limits} if limits else fields


def _price(text: str) -> Decimal:
    try:
        price = Decimal(text)
    except InvalidOperation:
        price = Decimal("NaN")
    if not price.is_finite() or price < 0:
        raise CommandError(f"{text} is not a price.")
    return price


def _project(slug: str | None) -> tuple[Project, User | None]:
    if not slug:
        return ensure_first_project()
    project = Project.objects.filter(slug=slug).first()
    if project is None:
        raise CommandError(f"There is no project {slug}.")
    return project, None
