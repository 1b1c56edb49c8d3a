"""The only place that touches bytes of media. Content is named by its SHA-256.

A blob lies in `BLOB_DIR/ab/cd/<sha>`, the thumbnail of an image beside it as
`<sha>.thumb.webp`. Files are written under a temporary name and renamed, so a name
that exists is complete. A project may see a blob when it has a `ProjectBlob`.
"""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

from django.conf import settings

from blobs.inspect import examine
from blobs.models import Blob, ProjectBlob
from blobs.sniff import HEAD_BYTES, mime_of
from workspace.models import Project

CHUNK_BYTES = 1024 * 1024
_SHA = re.compile(r"[0-9a-f]{64}")


class TooLargeError(Exception):
    """More bytes than allowed came in."""

    def __init__(self, max_bytes: int) -> None:
        super().__init__(f"larger than {max_bytes} bytes")
        self.max_bytes = max_bytes


def path_of(sha256: str) -> Path:
    """Where the bytes lie. Raises `ValueError` for what is no content hash."""
    if not _SHA.fullmatch(sha256):
        raise ValueError(sha256)
    return Path(settings.BLOB_DIR) / sha256[:2] / sha256[2:4] / sha256


def thumb_path_of(sha256: str) -> Path:
    path = path_of(sha256)
    return path.with_name(f"{path.name}.thumb.webp")


def put_stream(
    chunks: Iterable[bytes], *, project: Project, max_bytes: int | None = None
) -> Blob:
    """Store what `chunks` give and let `project` see it. Raises `TooLargeError`."""
    folder = Path(settings.BLOB_DIR) / "incoming"
    folder.mkdir(parents=True, exist_ok=True)
    digest, size, head = hashlib.sha256(), 0, b""
    with tempfile.NamedTemporaryFile(dir=folder, delete=False) as part:
        temporary = Path(part.name)
        try:
            for chunk in chunks:
                size += len(chunk)
                if max_bytes is not None and size > max_bytes:
                    raise TooLargeError(max_bytes)
                digest.update(chunk)
                if len(head) < HEAD_BYTES:
                    head += chunk[: HEAD_BYTES - len(head)]
                part.write(chunk)
            part.flush()
            os.fsync(part.fileno())
        except BaseException:
            temporary.unlink()
            raise
    target = path_of(digest.hexdigest())
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary.replace(target)
    return _recorded(digest.hexdigest(), size, head, project)


def put_bytes(data: bytes, *, project: Project, max_bytes: int | None = None) -> Blob:
    """Store `data` unless it is there already, and let `project` see it."""
    sha256 = hashlib.sha256(data).hexdigest()
    if max_bytes is not None and len(data) > max_bytes:
        raise TooLargeError(max_bytes)
    if path_of(sha256).exists():
        return _recorded(sha256, len(data), data[:HEAD_BYTES], project)
    return put_stream([data], project=project)


def open_blob(sha256: str) -> BinaryIO:
    """The bytes as a file. Raises `FileNotFoundError`."""
    return path_of(sha256).open("rb")


def read_bytes(sha256: str) -> tuple[bytes, str]:
    """The bytes and their type, for whoever sends media to a model."""
    data = path_of(sha256).read_bytes()
    return data, mime_of(data[:HEAD_BYTES])


def _recorded(sha256: str, size: int, head: bytes, project: Project) -> Blob:
    """The row of a stored file. Two processes may store the same file: one row wins."""
    blob = Blob.objects.filter(sha256=sha256).first()
    if blob is None:
        mime = mime_of(head)
        facts = examine(path_of(sha256), mime, thumb_path_of(sha256))
        mime = facts.mime or mime
        family = mime.partition("/")[0]
        blob, _created = Blob.objects.get_or_create(
            sha256=sha256,
            defaults={
                "size": size,
                "mime": mime,
                "kind": family if family in ("image", "audio") else Blob.Kind.OTHER,
                "width": facts.width,
                "height": facts.height,
                "duration": facts.duration,
                "waveform": facts.waveform,
                "problem": facts.problem[:200],
                "is_shown": facts.is_shown,
            },
        )
    ProjectBlob.objects.get_or_create(project=project, blob=blob)
    return blob
