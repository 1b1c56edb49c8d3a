"""Work that nobody asks for: finding what was lost, and throwing away what expired."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from time import time

from django.conf import settings
from django.utils import timezone

from datasets import sweep as datasets_sweep
from evaluations import sweep as evaluations_sweep
from evaluations.models import EvaluationDraft
from rubrics import sweep as rubrics_sweep
from targets import testcalls
from workspace.models import SignInFailure, SignInToken, WorkerProcess

log = logging.getLogger("portal.upkeep")

SWEEPS: tuple[Callable[[], None], ...] = (
    evaluations_sweep.sweep,
    datasets_sweep.sweep,
    rubrics_sweep.sweep,
    testcalls.sweep,
)


def sweep() -> None:
    """Each app looks for its own lost work; one that fails does not stop the others."""
    for step in SWEEPS:
        try:
            step()
        except Exception:
            log.exception("sweep_failed step=%s", step.__module__)


def drop_leftovers(*, older_than_seconds: float) -> None:
    """Parts of uploads whose process ended in the middle."""
    limit = time() - older_than_seconds
    for folder in (Path(settings.FILE_UPLOAD_TEMP_DIR), settings.BLOB_DIR / "incoming"):
        for path in folder.glob("*") if folder.is_dir() else ():
            if path.is_file() and path.stat().st_mtime < limit:
                path.unlink(missing_ok=True)


def housekeeping() -> None:
    now = timezone.now()
    drop_leftovers(older_than_seconds=6 * 3600)
    EvaluationDraft.objects.filter(expires_at__lt=now).delete()
    SignInToken.objects.filter(expires_at__lt=now - timedelta(days=30)).delete()
    SignInFailure.objects.filter(window_ends__lt=now).delete()
    rubrics_sweep.purge()
    testcalls.purge()
    WorkerProcess.objects.filter(seen_at__lt=now - timedelta(days=1)).delete()
