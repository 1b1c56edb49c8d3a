"""A deployment as the event loop sees it: a snapshot, no database behind it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import orjson

from targets.models import Deployment

SHORTEST_SECRET = 6
HIDDEN = "•••"


@dataclass(frozen=True, slots=True)
class DeploymentConfig:
    """What a call needs to know. Secrets are left out of its representation."""

    pk: int
    ref: str
    model: str
    connection_pk: int
    kind: str
    base_url: str
    api_version: str
    api_key: str = field(repr=False)
    headers: dict[str, str] = field(default_factory=dict, repr=False)
    capabilities: dict[str, Any] = field(default_factory=dict)
    limits: dict[str, Any] = field(default_factory=dict)
    ceiling: int | None = None
    price_input: float | None = None
    price_output: float | None = None
    simulated: bool = False
    version: str = ""

    @classmethod
    def of(cls, deployment: Deployment) -> DeploymentConfig:
        connection = deployment.connection
        return cls(
            pk=deployment.pk,
            ref=deployment.ref,
            model=deployment.model,
            connection_pk=connection.pk,
            kind=connection.kind,
            base_url=connection.url,
            api_version=connection.api_version,
            api_key=connection.api_key,
            headers=orjson.loads(connection.headers) if connection.headers else {},
            capabilities=dict(deployment.capabilities),
            limits=dict(deployment.limits),
            ceiling=connection.concurrency,
            price_input=_float(deployment.price_input),
            price_output=_float(deployment.price_output),
            simulated=connection.is_simulated,
            version=f"{connection.updated_at.isoformat()}|{connection.url}",
        )

    @property
    def concurrency(self) -> int:
        wanted = int(self.limits.get("concurrency") or 8)
        return min(wanted, self.ceiling) if self.ceiling else wanted

    def hide(self, text: str) -> str:
        """`text` without our secrets: some servers repeat the key that they refuse."""
        for secret in (self.api_key, *self.headers.values()):
            if len(secret) >= SHORTEST_SECRET:
                text = text.replace(secret, HIDDEN)
        return text


def _float(value: Any) -> float | None:
    return None if value is None else float(value)
