"""Media behind links: loaded once on request and stored, so that runs repeat."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from django.conf import settings

from assay.data.jsonx import JSONObject
from blobs import store
from blobs.links import Fetched, LinkProblem, fetch_all
from blobs.models import Blob
from blobs.net import networks
from datasets.media import links_in
from workspace.models import Project

AT_ONCE = 8
SECONDS_EACH = 15.0
SECONDS_TOGETHER = 30.0


class Pins:
    """What the links of a project's file lead to. `beat` is called between loads."""

    def __init__(self, project: Project, beat: Callable[[], None]) -> None:
        self._project = project
        self._beat = beat
        self._found: dict[str, Blob | LinkProblem] = {}

    def load(self, rows: Iterable[JSONObject]) -> None:
        """Load the media behind the links of these rows."""
        wanted = dict.fromkeys(url for values in rows for url in links_in(values))
        new = [url for url in wanted if url not in self._found]
        for urls in _chunks(new):
            self._beat()
            loaded = fetch_all(
                urls,
                private=networks(settings.LINK_NETWORKS),
                max_bytes=settings.MAX_MEDIUM_BYTES,
                seconds=SECONDS_EACH,
                total_seconds=SECONDS_TOGETHER,
                parallel=AT_ONCE,
            )
            for url, found in loaded.items():
                self._found[url] = self._stored(found)

    def pin(self, url: str) -> Blob | LinkProblem | None:
        """The medium behind a link that was loaded, or why there is none."""
        return self._found.get(url)

    def _stored(self, found: Fetched | LinkProblem) -> Blob | LinkProblem:
        if isinstance(found, LinkProblem):
            return found
        return store.put_bytes(found.data, project=self._project)


def _chunks(urls: list[str]) -> Iterator[list[str]]:
    for start in range(0, len(urls), AT_ONCE):
        yield urls[start : start + AT_ONCE]
