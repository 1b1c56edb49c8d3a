"""Step 2: which dataset."""

from __future__ import annotations

from typing import Any

from django.urls import reverse

from assay.running.spec import EvaluationSpec
from datasets.models import DatasetVersion
from evaluations.models import EvaluationDraft
from evaluations.wizard.stepper import step_url
from workspace.scoping import PortalRequest


def context(
    request: PortalRequest, draft: EvaluationDraft, spec: EvaluationSpec
) -> dict[str, Any]:
    versions = (
        DatasetVersion.objects.select_related("dataset")
        .filter(dataset__project=request.project, state=DatasetVersion.State.READY)
        .order_by("dataset__name", "-number")
    )
    datasets: dict[int, dict[str, Any]] = {}
    for version in versions:
        entry = datasets.setdefault(
            version.dataset_id,
            {"dataset": version.dataset, "newest": version, "versions": []},
        )
        entry["versions"].append(version)
        if version.ref == spec.dataset_version:
            entry["chosen"] = version
    here = step_url(draft, "data")
    upload = reverse("dataset_upload", args=[request.project.slug])
    return {
        "datasets": list(datasets.values()),
        "upload_url": f"{upload}?next={here}",
    }
