from __future__ import annotations

import threading

import pytest

from tests.blobs.recorder import LOOPBACK, PICTURE, Names, Recorder, load
from tests.datasets.conftest import _own_folders  # noqa: F401


@pytest.fixture(scope="module")
def _server():
    recorder = Recorder()
    threading.Thread(
        target=recorder.server.serve_forever, args=(0.01,), daemon=True
    ).start()
    yield recorder
    recorder.server.shutdown()
    recorder.server.server_close()


@pytest.fixture
def server(_server):
    _server.asked.clear()
    _server.headers.clear()
    _server.pages = {"/": _server.body(PICTURE)}
    return _server


@pytest.fixture
def get(server):
    """Loads a path through a name, with the loopback network allowed."""

    def get(path, **limits):
        names = Names(media_example=[["127.0.0.1"]])
        url = f"http://media.example:{server.port}{path}"
        return load(url, private=LOOPBACK, resolver=names, **limits)

    return get
