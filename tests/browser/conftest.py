"""One portal with data for the tests that only look."""

from __future__ import annotations

import pytest

from tests.support.browser import chromium
from tests.support.portal import running_portal

FILL = """
import json
from datasets.models import DatasetVersion
from evaluations import drafts, lifecycle
from evaluations.models import Run
from evaluations.submit import submit_draft
from evaluations.surroundings import look_around
from targets.models import Deployment
from tests.support import checkups, rubricpages
from tests.support.making import make_deployment, make_spec, make_version, rows
from workspace.signin import ensure_first_project
project, owner = ensure_first_project()
sample = DatasetVersion.objects.get()
draft = drafts.for_sample(project, owner, sample)
run = submit_draft(draft, by=owner)
dead = make_deployment(project, "http://127.0.0.1:9/v1", "dead-model")
spec = make_spec(sample, ["fluency"], judge=dead, name="Paused by a dead endpoint")
spec = drafts.remap(spec, look_around(project, spec))
paused = submit_draft(drafts.create(project, owner, spec), by=owner)
data = [{"query": "q", "response": "r"}, {"query": "q", "response": "r",
        "ground_truth": "r"}]
spec = make_spec(make_version(project, data, "gaps"), ["f1_score"], name="With errors")
spec = drafts.remap(spec, look_around(project, spec))
errors = submit_draft(drafts.create(project, owner, spec), by=owner)
open_draft = drafts.for_sample(project, owner, sample)
print(json.dumps(dict(project=project.slug, draft=open_draft.ref, runs=[run.pk,
    paused.pk, errors.pk], evaluation=run.evaluation.slug,
    paused=paused.evaluation.slug, errors=errors.evaluation.slug,
    dataset=sample.dataset.slug, model=dead.slug,
    **checkups.fill(project, owner), **rubricpages.fill(project, owner))))
"""

DONE = """
import json
from evaluations.models import Run
print(json.dumps([r.state_key for r in Run.objects.order_by("pk")]))
"""

LABEL = """
import json
from tests.support import rubricpages
from workspace.signin import ensure_first_project
print(json.dumps(rubricpages.label_rows(ensure_first_project()[1])))
"""


@pytest.fixture(scope="session")
def portal():
    import time

    with running_portal({"ASSAY_MODEL_TIMEOUT_SECONDS": "5"}) as started:
        started.filled = started.shell(FILL)
        until = time.monotonic() + 90
        while any(s in {"queued", "running"} for s in started.shell(DONE)):
            assert time.monotonic() < until, started.log_text()
            time.sleep(1)
        started.shell(LABEL)
        yield started


@pytest.fixture(scope="session")
def browser():
    with chromium() as started:
        yield started
