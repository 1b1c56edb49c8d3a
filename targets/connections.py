"""Making and changing connections and deployments."""

from __future__ import annotations

import os
from decimal import Decimal
from typing import Any
from urllib.parse import urlsplit

from django.db import transaction
from django.utils.text import slugify

from targets import addresses
from targets.models import SIMULATOR_MODEL, Connection, Deployment
from workspace.models import Project, User

DEFAULT_BASE_URL = "https://api.openai.com/v1"
DEFAULT_API_VERSION = "2024-10-21"
SHORTEST_HINTED = 12
RESERVED_SLUGS = {"connect", "offered", "connections", "tests"}
"""Words that stand in addresses where a slug could."""


def set_key(connection: Connection, key: str) -> None:
    """Store a key. What can be shown of it later are its last four characters."""
    connection.api_key = key.strip()
    hinted = len(connection.api_key) >= SHORTEST_HINTED
    connection.key_hint = connection.api_key[-4:] if hinted else ""


def save_connection(connection: Connection, *, key: str | None = None) -> Connection:
    """Save with a normalised address. `key` None keeps the stored one, "" drops it.

    A new key makes the last tests void, another address also what they taught. Raises
    `AddressError`.
    """
    stored = Connection.objects.filter(pk=connection.pk).first()
    if stored is None or (stored.kind, stored.base_url) != (
        connection.kind,
        connection.base_url,
    ):
        _normalise(connection)
    if connection.kind == Connection.Kind.AZURE and not connection.api_version:
        connection.api_version = DEFAULT_API_VERSION
    if key is not None:
        set_key(connection, key)
    with transaction.atomic():
        connection.save()
        if stored is None:
            return connection
        if _endpoint(stored) != _endpoint(connection):
            connection.deployments.update(last_test={}, capabilities={})
        elif stored.api_key != connection.api_key:
            connection.deployments.update(last_test={})
    return connection


def _normalise(connection: Connection) -> None:
    if connection.kind == Connection.Kind.OPENAI:
        connection.base_url = addresses.normalise_base_url(connection.base_url)
    elif connection.kind == Connection.Kind.AZURE:
        typed = connection.base_url
        connection.base_url = addresses.normalise_azure_url(typed)
        version = addresses.azure_version(typed)
        connection.api_version = connection.api_version or version


def same_server(one: str, other: str) -> bool:
    """True when both addresses have the same scheme, host and port."""
    return _server(one) == _server(other)


def _server(address: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(address)
    usual = {"http": 80, "https": 443}.get(parts.scheme)
    return parts.scheme, parts.hostname, parts.port or usual


def _endpoint(connection: Connection) -> tuple[str, str, str]:
    return connection.kind, connection.base_url, connection.api_version


def add_deployment(connection: Connection, model: str, **fields: Any) -> Deployment:
    """A deployment of `model`, with a slug that is unique in the project."""
    slug = free_slug(connection.project, fields.get("display_name") or model)
    return Deployment.objects.create(
        connection=connection, model=model, slug=slug, **fields
    )


def free_slug(project: Project, text: str) -> str:
    """A slug for `text` that no other model of the project has."""
    stem = slugify(text.replace("/", "-").replace(".", "-"))[:100] or "model"
    taken = RESERVED_SLUGS | set(
        Deployment.objects.filter(connection__project=project).values_list(
            "slug", flat=True
        )
    )
    slug, number = stem, 2
    while slug in taken:
        slug, number = f"{stem}-{number}", number + 1
    return slug


def save_deployment(deployment: Deployment) -> Deployment:
    """Save; another model name makes void what was tested and learned."""
    stored = Deployment.objects.get(pk=deployment.pk)
    if stored.model != deployment.model:
        deployment.capabilities, deployment.last_test = {}, {}
    deployment.save()
    return deployment


@transaction.atomic
def ensure_simulator(project: Project) -> Deployment:
    """The simulator's connection and its one model, made once per project."""
    connection, _created = Connection.objects.get_or_create(
        project=project,
        kind=Connection.Kind.SIMULATOR,
        defaults={"name": free_name(project, "Simulator")},
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
    key = os.environ.get("OPENAI_API_KEY", "").strip()
    url = os.environ.get("OPENAI_BASE_URL", "").strip()
    if not key and not url:
        return None
    try:
        base_url = addresses.normalise_base_url(url or DEFAULT_BASE_URL)
    except addresses.AddressError:
        return None
    if project.connections.filter(base_url=base_url).exists():
        return None
    name = "OpenAI" if base_url == DEFAULT_BASE_URL else "From the environment"
    return {"base_url": base_url, "has_key": "yes" if key else "", "name": name}


def connect_offered(project: Project, user: User | None) -> Connection | None:
    """Make the connection that the environment offers."""
    offer = offered_connection(project)
    if offer is None:
        return None
    connection = Connection(
        project=project,
        name=free_name(project, offer["name"]),
        base_url=offer["base_url"],
        created_by=user,
    )
    return save_connection(connection, key=os.environ.get("OPENAI_API_KEY", ""))


def free_name(project: Project, wanted: str) -> str:
    """`wanted`, or `wanted 2`, `wanted 3` … when there is such a connection."""
    names = project.connections.values_list("name", flat=True)
    taken = {name.casefold() for name in names}
    name, number = wanted, 2
    while name.casefold() in taken:
        name, number = f"{wanted} {number}", number + 1
    return name
