"""Code that tests run inside a started portal (its own process and database)."""

from __future__ import annotations

START_RUN = """
import json
from evaluations import drafts
from evaluations.submit import submit_draft
from evaluations.surroundings import look_around
from targets.models import Deployment
from tests.support.making import make_spec, make_version, rows
from workspace.signin import ensure_first_project
project, owner = ensure_first_project()
judge = Deployment.objects.get(connection__kind="simulator")
version = make_version(project, rows({rows}), name="d{rows}")
spec = make_spec(version, {evaluators!r}, judge=judge, name="Run of {rows}")
spec = drafts.remap(spec, look_around(project, spec))
run = submit_draft(drafts.create(project, owner, spec), by=owner)
print(json.dumps(run.pk))
"""

RUN_STATE = """
import json
from collections import Counter
from evaluations.models import Result, Run
run = Run.objects.get(pk={run})
twice = Result.objects.filter(run=run).values_list("item_id", "metric_id")
print(json.dumps(dict(
    state=run.state_key, total=run.total, done=run.done, passed=run.passed,
    failed=run.failed, errored=run.errored, skipped=run.skipped,
    results=len(twice), distinct=len(set(twice)), calls=run.calls,
    items=run.items.count(), reason=run.pause_reason,
    outcomes=Counter(str(o) for o in run.items.values_list("outcome", flat=True)),
)))
"""
