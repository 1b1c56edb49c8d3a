"""Work that nobody asks for: finding what was lost, and throwing away what expired."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import timedelta

from django.utils import timezone

from datasets import sweep as datasets_sweep
from evaluations import sweep as evaluations_sweep
from evaluations.models import EvaluationDraft
from targets import testcalls
from workspace.models import SignInFailure, SignInToken, WorkerProcess

log = logging.getLogger("portal.upkeep")

SWEEPS: tuple[Callable[[], None], ...] = (
    evaluations_sweep.sweep,
    datasets_sweep.sweep,
    testcalls.sweep,
)


def sweep() -> None:
    """Each app looks for its own lost work; one that fails does not stop the others."""
    for step in SWEEPS:
        try:
            step()
        except Exception:
            log.exception("sweep_failed step=%s", step.__module__)


def housekeeping() -> None:
    now = timezone.now()
    EvaluationDraft.objects.filter(expires_at__lt=now).delete()
    SignInToken.objects.filter(expires_at__lt=now - timedelta(days=30)).delete()
    SignInFailure.objects.filter(window_ends__lt=now).delete()
    testcalls.purge()
    WorkerProcess.objects.filter(seen_at__lt=now - timedelta(days=1)).delete()
