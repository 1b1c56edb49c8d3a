"""Short calls that a person waits for: asked for by a page, made by a worker."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.db.models import Q
from django.utils import timezone

from targets.models import Deployment, TestCall
from workspace.bells import ring
from workspace.leases import requeue_expired_jobs
from workspace.models import JobState, Project, User

TASK = "targets.tasks.run_test_call"
PER_MINUTE = 20
TOO_MANY = "There were {count} test calls in one minute. Wait a minute, then try again."
KEPT = timedelta(days=30)


def ask(
    project: Project,
    kind: str,
    deployment: Deployment,
    *,
    request: dict[str, Any] | None = None,
    by: User | None = None,
) -> TestCall:
    """Queue a test call and ring the doorbell once it is committed.

    Beyond 20 calls in a minute the call is over at once, failed, and says so.
    """
    call = TestCall(
        project=project,
        kind=kind,
        deployment=deployment,
        request=request or {},
        created_by=by,
    )
    if _made_lately(project) >= PER_MINUTE:
        call.state = JobState.FAILED
        call.error = TOO_MANY.format(count=PER_MINUTE)
        call.finished_at = timezone.now()
        call.save()
        return call
    call.save()
    ring(TASK, call.pk)
    return call


def _made_lately(project: Project) -> int:
    """Calls of the last minute, without those that were refused."""
    since = timezone.now() - timedelta(minutes=1)
    refused = Q(state=JobState.FAILED, started_at=None)
    calls = TestCall.objects.filter(project=project, created_at__gte=since)
    return calls.exclude(refused).count()


def sweep() -> None:
    """Ring again for test calls whose message or worker was lost."""
    for pk in requeue_expired_jobs(TestCall):
        ring(TASK, pk)


def purge() -> None:
    """Throw away test calls of last month."""
    TestCall.objects.filter(created_at__lt=timezone.now() - KEPT).delete()
