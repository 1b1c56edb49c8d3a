"""Reads for the pages of connections and models."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Prefetch, QuerySet
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _

from targets.models import Connection, Deployment, TestCall
from workspace.models import JobState, Project
from workspace.scoping import find

READS = (("image", "images"), ("audio", "audio"))
WAITING_LONG = dt.timedelta(seconds=10)


@dataclass(slots=True)
class LastTest:
    """How the last test of a model ended."""

    ok: bool
    error: str
    code: str
    milliseconds: int
    at: dt.datetime | None
    checks: list[dict[str, Any]] = field(default_factory=list)

    @property
    def seconds(self) -> float:
        return self.milliseconds / 1000


def last_test(deployment: Deployment) -> LastTest | None:
    stored = deployment.last_test
    if not stored:
        return None
    first = (stored.get("checks") or [{}])[0]
    return LastTest(
        ok=bool(stored.get("ok")),
        error=str(stored.get("error") or first.get("error") or ""),
        code=str(stored.get("code") or first.get("code") or ""),
        milliseconds=int(stored.get("milliseconds") or first.get("milliseconds") or 0),
        at=parse_datetime(stored.get("at") or ""),
        checks=stored.get("checks") or [],
    )


@dataclass(slots=True)
class ModelLine:
    """A model as the list shows it."""

    deployment: Deployment
    test: LastTest | None
    reads: list[tuple[str, bool | None]]
    call: TestCall | None = None

    @property
    def is_untested(self) -> bool:
        return all(known is None for _kind, known in self.reads)

    @property
    def is_priced(self) -> bool:
        model = self.deployment
        return model.price_input is not None and model.price_output is not None

    @property
    def is_free(self) -> bool:
        model = self.deployment
        return self.is_priced and not model.price_input and not model.price_output


def line_of(deployment: Deployment, call: TestCall | None = None) -> ModelLine:
    reads = [(kind, deployment.can_read(kind)) for kind, _name in READS]
    return ModelLine(deployment, last_test(deployment), reads, call)


@dataclass(slots=True)
class Card:
    """A connection with its models. `latest` is the test that speaks for it."""

    connection: Connection
    lines: list[ModelLine]
    latest: LastTest | None


def card_of(connection: Connection) -> Card:
    """Needs `connection.deployments` prefetched with `running_tests`."""
    lines = [
        line_of(deployment, next(iter(getattr(deployment, "running_tests", ())), None))
        for deployment in connection.deployments.all()
    ]
    tests = [line.test for line in lines if line.test]
    beginning = dt.datetime.min.replace(tzinfo=dt.UTC)
    latest = max(tests, key=lambda test: test.at or beginning, default=None)
    return Card(connection, lines, latest)


def connections_of(project: Project) -> QuerySet[Connection]:
    return Connection.objects.filter(project=project)


def cards(project: Project, **lookup: Any) -> list[Card]:
    """All connections, the simulator last. 3 queries."""
    lately = timezone.now() - dt.timedelta(minutes=5)
    running = TestCall.objects.filter(
        kind=TestCall.Kind.DEPLOYMENT,
        state__in=(JobState.QUEUED, JobState.RUNNING),
        created_at__gte=lately,
    ).order_by("-pk")
    deployments = Deployment.objects.order_by("pk").prefetch_related(
        Prefetch("test_calls", queryset=running, to_attr="running_tests")
    )
    found = (
        connections_of(project)
        .filter(**lookup)
        .prefetch_related(Prefetch("deployments", queryset=deployments))
    )
    ordered = sorted(found, key=lambda c: (c.is_simulated, c.name.casefold()))
    return [card_of(connection) for connection in ordered]


def connection_in(project: Project, ref: str) -> Connection:
    """1 query."""
    message = _("This connection does not exist or was deleted.")
    return find(connections_of(project).select_related("project"), message, ref=ref)


def deployment_in(project: Project, slug: str) -> Deployment:
    """1 query."""
    models = Deployment.objects.select_related("connection__project").filter(
        connection__project=project
    )
    return find(models, _("This model does not exist or was deleted."), slug=slug)


def test_call_in(project: Project, ref: str) -> TestCall:
    """1 query."""
    calls = TestCall.objects.filter(
        project=project, kind=TestCall.Kind.DEPLOYMENT, deployment__isnull=False
    ).select_related("deployment__connection")
    return find(calls, _("This test does not exist any more."), ref=ref)


def waits_long(call: TestCall) -> bool:
    """True when no worker took the test for a while."""
    waited = timezone.now() - call.created_at
    return call.state == JobState.QUEUED and waited > WAITING_LONG
