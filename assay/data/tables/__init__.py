"""Language tables shipped with the library, read once and never downloaded.

Sources, licences and the way they were made stand in README.md beside this file;
build.py makes them again.
"""

from __future__ import annotations

import lzma
from pathlib import Path

FOLDER = Path(__file__).parent


def read_table(name: str) -> list[str]:
    """The lines of the table `name`."""
    with lzma.open(FOLDER / f"{name}.txt.xz", "rt", encoding="utf-8") as table:
        return table.read().splitlines()
