"""What must be there before the first page: tables, static files, project, sample."""

from __future__ import annotations

import logging

from django.core.management import call_command

from datasets.samples import ensure_sample
from evaluations.samples import ensure_run
from targets.connections import ensure_simulator
from workspace.models import Project, User
from workspace.signin import ensure_first_project

log = logging.getLogger("portal.prepare")


def prepare(*, verbosity: int = 0) -> tuple[Project, User]:
    """Safe to run at every start. Returns the first project and its owner."""
    call_command("migrate", interactive=False, verbosity=verbosity)
    call_command("collectstatic", interactive=False, verbosity=verbosity)
    project, owner = ensure_first_project()
    ensure_simulator(project)
    if not project.settings.get("sample_offered"):
        ensure_run(project, ensure_sample(project), owner)
        project.settings["sample_offered"] = True
        project.save(update_fields=["settings"])
    return project, owner
