"""What several pages of datasets share."""

from __future__ import annotations

from typing import Any

from django.urls import reverse

from datasets import cells, queries
from datasets.models import DatasetVersion
from workspace.scoping import PortalRequest


def rows_context(
    request: PortalRequest, version: DatasetVersion, query: dict[str, Any]
) -> dict[str, Any]:
    """What the table of rows takes. 2 queries, 3 when rows are searched."""
    groups = cells.column_groups(version)
    group = min(query["cols"] or 1, len(groups))
    page = queries.row_page(version, query)
    kinds = {column["name"]: column["kind"] for column in version.columns}
    return {
        "page": page,
        "column_group": group,
        "column_groups": len(groups),
        "names": groups[group - 1],
        "heads": [(name, kinds[name]) for name in groups[group - 1]],
        "rows": cells.shown_rows(request.project, list(page), groups[group - 1]),
        "query_defaults": {"tab": "rows", "cols": "1"},
    }


def version_address(version: DatasetVersion) -> str:
    """Where a version is shown. Needs its dataset with project."""
    dataset = version.dataset
    args = [dataset.project.slug, dataset.slug, version.number]
    return reverse("dataset_version", args=args)
