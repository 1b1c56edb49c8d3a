"""Imports 20,200 rows with 100 MB of media and prints how much memory that took.

A process of its own: only so the peak belongs to the import alone.
"""

from __future__ import annotations

import base64
import json
import resource
from collections.abc import Iterator

import django

django.setup()

from django.core.management import call_command  # noqa: E402

from datasets import uploads  # noqa: E402
from tests.factories import add_file, make_project, png, run_import  # noqa: E402


def peak_megabytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def plain(number: int) -> bytes:
    row = {"query": f"{number} " + "x" * 300, "response": "y" * 700, "n": number}
    return json.dumps(row).encode() + b"\n"


def rich(number: int) -> bytes:
    """A row with an image of 400 kB; each is another one."""
    data = png(300, 300) + bytes([number]) * 400_000
    text = base64.b64encode(data).decode()
    return json.dumps({"image_url": f"data:image/png;base64,{text}"}).encode() + b"\n"


def file() -> Iterator[bytes]:
    for block in range(200):
        yield b"".join(plain(100 * block + n) for n in range(100))
        yield rich(block)


def main() -> None:
    call_command("migrate", verbosity=0)
    project = make_project()
    run_import(add_file(project, plain(0) + rich(255)))
    before = peak_megabytes()
    added = uploads.add_file(
        file(), project=project, by=None, name="large", file_name="large.jsonl"
    )
    done = run_import(added.version)
    assert added.version.original is not None
    size = added.version.original.size
    print(done.state, done.row_count, size, peak_megabytes() - before)


if __name__ == "__main__":
    main()
