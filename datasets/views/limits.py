"""Keeps an upload below the limit while it is read, without writing the rest."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.files.uploadhandler import FileUploadHandler
from django.http import HttpRequest


class SizeLimit(FileUploadHandler):
    """Passes chunks on until the limit; then only counts, so that the size is known.

    `too_large` is the size of the file that was refused, or 0.
    """

    def __init__(self, request: HttpRequest) -> None:
        super().__init__(request)
        self.too_large = 0

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes | None:
        end = start + len(raw_data)
        if end <= settings.MAX_UPLOAD_BYTES:
            return raw_data
        self.too_large = end
        return None

    def file_complete(self, file_size: int) -> Any:
        return None


def limit_upload(request: HttpRequest) -> SizeLimit:
    """Watch the upload of `request`. Call before anything reads the request."""
    limit = SizeLimit(request)
    request.upload_handlers.insert(0, limit)
    return limit
