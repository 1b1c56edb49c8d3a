"""Base64 of blobs, encoded once however many calls want it."""

from __future__ import annotations

import asyncio
import base64
from collections import OrderedDict

from assay.data.chat import ModelError
from assay.data.media import BlobRef
from blobs import store

CACHE_BYTES = 128 * 1024 * 1024


class MediaCache:
    """Texts by hash; the least used are dropped first."""

    def __init__(self, limit: int = CACHE_BYTES) -> None:
        self._limit = limit
        self._held = 0
        self._texts: OrderedDict[str, str] = OrderedDict()
        self._under_way: dict[str, asyncio.Task[str]] = {}

    async def load(self, refs: set[BlobRef]) -> dict[str, str]:
        """The texts of all `refs`. Raises `ModelError` when a file is gone."""
        return {ref.sha256: await self._text(ref.sha256) for ref in refs}

    async def _text(self, sha: str) -> str:
        known = self._texts.get(sha)
        if known is not None:
            self._texts.move_to_end(sha)
            return known
        task = self._under_way.get(sha)
        if task is None:
            task = asyncio.create_task(asyncio.to_thread(_encode, sha))
            self._under_way[sha] = task
            task.add_done_callback(lambda done: self._arrived(sha, done))
        try:
            # One caller that is cancelled does not take the text from the others.
            return await asyncio.shield(task)
        except FileNotFoundError:
            sentence = "The file of an image or a recording is missing on the server."
            raise ModelError("media_missing", sentence, permanent=True) from None

    def _arrived(self, sha: str, task: asyncio.Task[str]) -> None:
        self._under_way.pop(sha, None)
        if not task.cancelled() and task.exception() is None:
            self._keep(sha, task.result())

    def _keep(self, sha: str, text: str) -> None:
        self._texts[sha] = text
        self._held += len(text)
        while self._held > self._limit and len(self._texts) > 1:
            _sha, dropped = self._texts.popitem(last=False)
            self._held -= len(dropped)


def _encode(sha: str) -> str:
    data, _mime = store.read_bytes(sha)
    return base64.b64encode(data).decode("ascii")
