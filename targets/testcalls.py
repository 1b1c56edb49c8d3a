"""Short calls that a person waits for: asked for by a page, made by a worker."""

from __future__ import annotations

from typing import Any

from targets.models import Deployment, TestCall
from workspace.bells import ring
from workspace.leases import requeue_expired_jobs
from workspace.models import Project, User

TASK = "targets.tasks.run_test_call"


def ask(
    project: Project,
    kind: str,
    deployment: Deployment,
    *,
    request: dict[str, Any] | None = None,
    by: User | None = None,
) -> TestCall:
    """Queue a test call and ring the doorbell once it is committed."""
    call = TestCall.objects.create(
        project=project,
        kind=kind,
        deployment=deployment,
        request=request or {},
        created_by=by,
    )
    ring(TASK, call.pk)
    return call


def sweep() -> None:
    """Ring again for test calls whose message or worker was lost."""
    for pk in requeue_expired_jobs(TestCall):
        ring(TASK, pk)
