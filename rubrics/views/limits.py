"""Keeps reference files below their limit while they are read."""

from __future__ import annotations

from itertools import islice
from typing import Any

from django.core.files.uploadhandler import FileUploadHandler
from django.http import HttpRequest

from rubrics.sources import MOST_BYTES, MOST_FILES, Upload, clean_name

FIELD = "files"
MOST_SENT = 4 * MOST_FILES


class FileLimit(FileUploadHandler):
    """Passes chunks of a file on until its limit; then only counts. Of many more
    files than are read nothing is taken.

    `sizes` are those of the files in the order in which they come.
    """

    def __init__(self, request: HttpRequest) -> None:
        super().__init__(request)
        self.sizes: list[int] = []

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        super().new_file(*args, **kwargs)
        self.sizes.append(0)

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes | None:
        self.sizes[-1] = start + len(raw_data)
        is_taken = len(self.sizes) <= MOST_SENT and self.sizes[-1] <= MOST_BYTES
        return raw_data if is_taken else None

    def file_complete(self, file_size: int) -> Any:
        return None


def limit_files(request: HttpRequest) -> FileLimit:
    """Watch the files of `request`. Call before anything reads the request."""
    limit = FileLimit(request)
    request.upload_handlers.insert(0, limit)
    return limit


def uploads_in(request: HttpRequest, limit: FileLimit) -> list[Upload]:
    """The files that came along; of one that is too large only name and size."""
    found = []
    sent = zip(request.FILES.getlist(FIELD), limit.sizes, strict=False)
    for file, size in islice(sent, MOST_SENT):
        name = clean_name(file.name or "")
        if size > MOST_BYTES:
            found.append(Upload(name, size=size))
        else:
            found.append(Upload(name, file.read()))
    return found
