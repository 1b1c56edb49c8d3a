"""Makes rows for tests. Shared: add, do not change."""

from __future__ import annotations

import io
import itertools
import json
import wave
from collections.abc import Iterable
from typing import Any

from PIL import Image

from datasets import ingest, uploads
from datasets.models import DataJob, DatasetVersion
from workspace.leases import claim_job
from workspace.models import Membership, Project, Role, User

_numbers = itertools.count(1)


def make_user(name: str = "person", **fields: Any) -> User:
    email = f"{name}{next(_numbers)}@example.com"
    user = User(email=email, name=name, **fields)
    user.set_unusable_password()
    user.save()
    return user


def make_project(name: str = "restaurant-booking", **fields: Any) -> Project:
    fields.setdefault("slug", f"project-{next(_numbers)}")
    return Project.objects.create(name=name, **fields)


def make_member(project: Project, role: Role, name: str = "member") -> User:
    user = make_user(name)
    Membership.objects.create(project=project, user=user, role=role)
    return user


def jsonl(rows: Iterable[Any]) -> bytes:
    """The rows as the bytes of a JSONL file."""
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def add_file(
    project: Project,
    data: bytes,
    *,
    file_name: str = "rows.jsonl",
    name: str = "",
    **options: Any,
) -> DatasetVersion:
    """Upload `data`; the import waits in its job."""
    added = uploads.add_file(
        [data],
        project=project,
        by=None,
        name=name or uploads.name_from_file(file_name),
        file_name=file_name,
        **options,
    )
    return added.version


def run_import(version: DatasetVersion) -> DatasetVersion:
    """Do the waiting import of `version` in this process."""
    job = claim_job(DataJob, DataJob.objects.get(version=version).pk)
    assert job is not None
    ingest.run(job)
    version.refresh_from_db()
    return version


def make_version(
    project: Project, rows: Iterable[Any], **options: Any
) -> DatasetVersion:
    """A dataset version with these rows, ready to use."""
    version = run_import(add_file(project, jsonl(rows), **options))
    assert version.state == DatasetVersion.State.READY, version.import_report
    return version


def png(
    width: int = 40, height: int = 30, colour: str = "#336699", **options: Any
) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (width, height), colour).save(buffer, "PNG", **options)
    return buffer.getvalue()


def wav(seconds: float = 0.5, rate: int = 8000) -> bytes:
    """A recording that grows louder."""
    buffer = io.BytesIO()
    frames = int(seconds * rate)
    with wave.open(buffer, "wb") as sound:
        sound.setparams((1, 2, rate, frames, "NONE", ""))
        samples = [int(30000 * i / frames) * (-1) ** i for i in range(frames)]
        sound.writeframes(
            b"".join(s.to_bytes(2, "little", signed=True) for s in samples)
        )
    return buffer.getvalue()
