from __future__ import annotations

from tests.datasets.conftest import _own_folders  # noqa: F401
