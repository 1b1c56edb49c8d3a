"""Speed and memory of the library that looks for questionable rows.

Prints MB of rows per CPU second and the growth of resident memory, each size in a
process of its own. Rows are about 1.4 KB; one in 500 repeats another.
"""

from __future__ import annotations

import json
import random
import resource
import sys
from multiprocessing import get_context
from time import process_time

from assay.data.checkup import Checkup
from assay.data.jsonx import JSONObject
from assay.data.profile import Profiler

SIZES = (20_000, 100_000)
SHAPES = ("varied", "template", "identical")
WORDS = 4000
MB = 1024 * 1024
TEMPLATE = "Read the review below and say in one word how the writer feels. " * 8


def vocabulary() -> list[str]:
    chance = random.Random(1)
    letters = "etaoinshrdlucmfwypvbgk"
    return [
        "".join(chance.choices(letters, k=chance.randint(2, 9))) for _ in range(WORDS)
    ]


def row_at(number: int, words: list[str], shape: str) -> JSONObject:
    """The same row for the same number; 1.4 KB of JSON."""
    if shape == "identical":
        number = 1
    chance = random.Random(number - 1 if number % 500 == 0 else number)
    if shape == "template":
        query = f"{TEMPLATE}Review: {' '.join(chance.choices(words, k=12))}."
        answer = chance.choice(("positive", "negative"))
    else:
        query = f"{' '.join(chance.choices(words, k=40))}?"
        answer = " ".join(chance.choices(words, k=25))
    context = ". ".join(" ".join(chance.choices(words, k=12)) for _ in range(10))
    return {
        "id": number,
        "query": query,
        "response": f"It was {answer}, paid on 2024-03-{number % 28 + 1:02}.",
        "context": f"{context}. Call the office; order {number} of 1,200.",
        "ground_truth": answer,
    }


def measure(shape: str, count: int) -> str:
    words = vocabulary()
    profiler = Profiler()
    for number in range(1, 200):
        profiler.add(row_at(number, words, shape))
    checkup = Checkup(profiler.columns())
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    written = found = asked = 0
    spent = 0.0
    for number in range(1, count + 1):
        row = row_at(number, words, shape)
        written += len(json.dumps(row))
        started = process_time()
        found += len(checkup.add(number, row))
        spent += process_time() - started

    def rows_at(numbers: object) -> dict[int, JSONObject]:
        nonlocal asked, reading
        started = process_time()
        rows = {number: row_at(number, words, shape) for number in numbers}
        asked += len(rows)
        reading += process_time() - started
        return rows

    reading = 0.0
    started = process_time()
    found += sum(1 for _ in checkup.end(rows_at))
    ending = process_time() - started - reading
    growth = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    return (
        f"{shape:10} {count:7,} rows  {written / MB / (spent + ending):5.1f} MB/CPU-s"
        f"  (end {ending:5.1f} s, {asked:,} rows read again)"
        f"  +{growth:.0f} MB  {found:,} findings"
    )


def main() -> None:
    for shape in SHAPES:
        for count in SIZES:
            with get_context("spawn").Pool(1) as pool:
                sys.stdout.write(pool.apply(measure, (shape, count)) + "\n")
                sys.stdout.flush()


if __name__ == "__main__":
    main()
