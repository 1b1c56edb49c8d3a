"""Parquet files, written by a process of its own: the web server loads no pandas."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import cast

from django.conf import settings
from django.http import FileResponse, HttpResponse

from workspace.scoping import PortalRequest

CONTENT_TYPE = "application/vnd.apache.parquet"
SECONDS = 110


def parquet_response(
    request: PortalRequest, command: str, ref: str, name: str
) -> HttpResponse:
    """What `manage.py <command> <ref> <path>` writes, as a download called `name`."""
    request.META.pop("HTTP_ACCEPT_ENCODING", None)
    # The open file stays readable when its folder is gone.
    with tempfile.TemporaryDirectory(prefix="assay-export-") as folder:
        path = Path(folder) / "rows.parquet"
        subprocess.run(  # noqa: S603 - our own command, no text of a user in it
            [sys.executable, "manage.py", command, ref, str(path)],
            cwd=settings.BASE_DIR,
            check=True,
            capture_output=True,
            timeout=SECONDS,
        )
        file = path.open("rb")
    response = FileResponse(
        file, as_attachment=True, filename=name, content_type=CONTENT_TYPE
    )
    return cast("HttpResponse", response)
