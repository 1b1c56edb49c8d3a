"""Making and changing connections and deployments."""

from __future__ import annotations

import os
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.utils.text import slugify

from targets import wire
from targets.models import SIMULATOR_MODEL, Connection, Deployment
from workspace.models import Project, User


def set_key(connection: Connection, key: str) -> None:
    """Store a key. What can be shown of it later are its last four characters."""
    connection.api_key = key.strip()
    connection.key_hint = key.strip()[-4:] if len(key.strip()) >= 12 else ""


def save_connection(connection: Connection, *, key: str | None = None) -> Connection:
    """Save with a normalised address. `key` None keeps the stored one, "" drops it."""
    if connection.kind == Connection.Kind.OPENAI:
        connection.base_url = wire.normalise_base_url(connection.base_url)
    elif connection.kind == Connection.Kind.AZURE:
        connection.base_url = connection.base_url.strip().rstrip("/")
    if key is not None:
        set_key(connection, key)
    connection.save()
    return connection


def add_deployment(connection: Connection, model: str, **fields: Any) -> Deployment:
    """A deployment of `model`, with a slug that is unique in the project."""
    taken = set(
        Deployment.objects.filter(connection__project=connection.project).values_list(
            "slug", flat=True
        )
    )
    stem = slugify(fields.get("display_name") or model)[:100] or "model"
    slug, number = stem, 2
    while slug in taken:
        slug, number = f"{stem}-{number}", number + 1
    return Deployment.objects.create(
        connection=connection, model=model, slug=slug, **fields
    )


@transaction.atomic
def ensure_simulator(project: Project) -> Deployment:
    """The simulator's connection and its one model, made once per project."""
    connection, _created = Connection.objects.get_or_create(
        project=project,
        kind=Connection.Kind.SIMULATOR,
        defaults={"name": "Simulator"},
    )
    found = connection.deployments.filter(model=SIMULATOR_MODEL).first()
    if found:
        return found
    return add_deployment(
        connection,
        SIMULATOR_MODEL,
        display_name="Simulator",
        capabilities={"images": True, "audio": True, "json_schema": True},
        price_input=Decimal(0),
        price_output=Decimal(0),
        limits={"concurrency": 16},
    )


def offered_connection(project: Project) -> dict[str, str] | None:
    """The endpoint that the environment names, if no connection uses it yet."""
    key = os.environ.get("OPENAI_API_KEY", "")
    url = os.environ.get("OPENAI_BASE_URL", "")
    if not key and not url:
        return None
    base_url = wire.normalise_base_url(url or "https://api.openai.com/v1")
    if project.connections.filter(base_url=base_url).exists():
        return None
    return {"base_url": base_url, "has_key": "yes" if key else ""}


def offered_name(base_url: str) -> str:
    return "OpenAI" if "openai.com" in base_url else "From the environment"


def connect_offered(project: Project, user: User | None) -> Connection | None:
    """Make the connection that the environment offers."""
    offer = offered_connection(project)
    if offer is None:
        return None
    connection = Connection(
        project=project,
        name=free_name(
            project, "OpenAI" if "openai.com" in offer["base_url"] else "Default"
        ),
        base_url=offer["base_url"],
        created_by=user,
    )
    return save_connection(connection, key=os.environ.get("OPENAI_API_KEY", ""))


def free_name(project: Project, wanted: str) -> str:
    """`wanted`, or `wanted 2`, `wanted 3` … when there is such a connection."""
    taken = {c.name.casefold() for c in project.connections.all()}
    name, number = wanted, 2
    while name.casefold() in taken:
        name, number = f"{wanted} {number}", number + 1
    return name
