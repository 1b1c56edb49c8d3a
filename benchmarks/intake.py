"""Reading files: ours against a bare orjson line loop and pandas' chunked reader.

Makes three files in a temporary folder, then reads each with each reader in a process
of its own. Ours gives what a row needs to be stored: checked values, their text and
their digest; the bare loop and pandas drop what they read. Prints MB for each second of
CPU, the highest memory of the process, and the ratio to the bare loop.

    python -m benchmarks.intake         # 200 MB of text, 200 MB of CSV, 300 MB of media
    python -m benchmarks.intake 0.1     # a tenth of that
"""

from __future__ import annotations

import base64
import csv
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

MB = 1_000_000
ROUNDS = 3
FILES = {"text.jsonl": 200, "text.csv": 200, "media.jsonl": 300}
"""Megabytes of each file."""
WORDS = """answer claim reason order storm harbour ledger signal river engine garden
measure window paper market winter letter bridge copper valley teacher method border
season record island carries shows holds gives takes follows turns keeps brings names
counts starts ends meets moves early late small wide plain firm quiet clear"""
VOCABULARY = WORDS.split()


def prose(rng: random.Random, words: int) -> str:
    return " ".join(rng.choices(VOCABULARY, k=words)).capitalize() + "."


def text_row(number: int) -> dict[str, object]:
    """Seven fields, about 1.4 KB."""
    rng = random.Random(number)
    return {
        "id": number,
        "query": f"What is told in item {number}? " + prose(rng, 12),
        "response": prose(rng, 80),
        "ground_truth": prose(rng, 70),
        "context": prose(rng, 50),
        "topic": rng.choice(VOCABULARY),
        "expected": 1 + number % 5,
    }


def media_row(number: int) -> dict[str, object]:
    """A conversation with one image of 100 KB as a data URI."""
    rng = random.Random(number)
    image = base64.b64encode(rng.randbytes(75_000)).decode()
    parts = [
        {"type": "text", "text": prose(rng, 20)},
        {
            "type": "image_url",
            "image_url": {"url": f"data:image/png;base64,{image}", "detail": "low"},
        },
    ]
    return {
        "messages": [
            {"role": "system", "content": prose(rng, 15)},
            {"role": "user", "content": parts},
            {"role": "assistant", "content": prose(rng, 40)},
        ],
        "expected": prose(rng, 20),
    }


def write_lines(path: Path, size: int, row: Callable[[int], object]) -> None:
    with path.open("w") as file:
        number = 0
        while file.tell() < size:
            file.write(json.dumps(row(number)) + "\n")
            number += 1


def write_csv(path: Path, size: int) -> None:
    """Every fifth row has a line break inside quotation marks."""
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(text_row(0)))
        writer.writeheader()
        number = 0
        while file.tell() < size:
            row = text_row(number)
            if number % 5 == 0:
                row["response"] = str(row["response"]).replace(" ", "\n", 1)
            writer.writerow(row)
            number += 1


def make_files(folder: Path, scale: float) -> None:
    sizes = {name: int(size * MB * scale) for name, size in FILES.items()}
    write_lines(folder / "text.jsonl", sizes["text.jsonl"], text_row)
    write_csv(folder / "text.csv", sizes["text.csv"])
    write_lines(folder / "media.jsonl", sizes["media.jsonl"], media_row)


# Readers: each yields once for each row, or for each chunk of rows.


def ours(path: Path) -> Iterator[None]:
    from assay.data.rowtext import row_digest, text_of
    from assay.data.tabular import HEAD_BYTES, Limits, RowRead, read, sniff

    with path.open("rb") as file:
        detected = sniff(file.read(HEAD_BYTES), path.name)
        for item in read(file, detected, Limits(rows=10_000_000)):
            assert isinstance(item, RowRead), item
            text_of(item, item.values)
            row_digest(item.values, is_exact=item.is_exact)
            yield


def bare(path: Path) -> Iterator[None]:
    """orjson, or the reader of the standard library for CSV."""
    import orjson

    if path.suffix == ".csv":
        with path.open(newline="") as text:
            for _record in csv.reader(text):
                yield
        return
    with path.open("rb") as file:
        for line in file:
            orjson.loads(line)
            yield


def pandas_chunks(path: Path) -> Iterator[None]:
    import pandas as pd

    if path.suffix == ".csv":
        frames = pd.read_csv(path, chunksize=5000, dtype=str, keep_default_na=False)
    else:
        chunk = 200 if path.stem == "media" else 5000
        frames = pd.read_json(path, lines=True, chunksize=chunk)
    for _frame in frames:
        yield


READERS = {"ours": ours, "bare": bare, "pandas": pandas_chunks}


def measure(path: Path, reader: str) -> None:
    """In a process of its own: prints CPU seconds and the peak of memory in bytes.
    The first row is read before the clock starts: imports do not count."""
    next(READERS[reader](path))
    start = time.process_time()
    for _ in READERS[reader](path):
        pass
    used = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(used, peak)


def measured(path: Path, reader: str) -> tuple[float, float]:
    """The best MB per CPU second of some rounds, and the highest peak in MB."""
    command = [
        sys.executable,
        "-m",
        "benchmarks.intake",
        "--measure",
        str(path),
        reader,
    ]
    speeds, peaks = [], []
    for _ in range(ROUNDS):
        run = subprocess.run(command, capture_output=True, text=True, check=True)
        used, peak = map(float, run.stdout.split())
        speeds.append(path.stat().st_size / MB / used)
        peaks.append(peak / MB)
    return max(speeds), max(peaks)


def main(scale: float) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_files(folder, scale)
        print(
            f"{'file':12} {'reader':8} {'MB per CPU-s':>12} {'peak MB':>8} {'ratio':>6}"
        )
        for file in FILES:
            path = folder / file
            found = {reader: measured(path, reader) for reader in READERS}
            for reader, (speed, peak) in found.items():
                ratio = speed / found["bare"][0]
                print(f"{file:12} {reader:8} {speed:12.0f} {peak:8.0f} {ratio:6.2f}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        measure(Path(sys.argv[2]), sys.argv[3])
    else:
        main(float(sys.argv[1]) if len(sys.argv) > 1 else 1.0)
