"""Makes the tables of this folder from local copies of their sources.

    python -m assay.data.tables.build --wordnet DIR --punkt DIR --properties FILE

`--wordnet` is the `dict` folder of WordNet 3.0, `--punkt` the folder `english` of
the Punkt models in their tab-separated form, `--properties` a Python module or JSON
file that maps the property names Number, Punctuation and Symbol to their characters.
Each may be left out; then its table is not made again.
"""

from __future__ import annotations

import argparse
import ast
import json
import lzma
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from assay.data.tables import FOLDER

WORDNET_FILES = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
SYNTACTIC_MARKER = re.compile(r"\((?:a|p|ip)\)$")
PROPERTY_NAMES = ("Number", "Punctuation", "Symbol")


def write_table(name: str, lines: Iterable[str]) -> None:
    text = "".join(f"{line}\n" for line in lines)
    packed = lzma.compress(
        text.encode(), preset=9 | lzma.PRESET_EXTREME, check=lzma.CHECK_CRC32
    )
    (FOLDER / f"{name}.txt.xz").write_bytes(packed)


def wordnet_lines(folder: Path) -> Iterator[str]:
    """One line per synset (`n car auto`), then the irregular forms (`!n geese goose`).

    Only one-word lemmas are kept: a token never equals a lemma of several words.
    """
    for code, name in WORDNET_FILES.items():
        synsets = set()
        for line in _data_lines(folder / f"data.{name}"):
            words = _one_word_lemmas(line)
            if words:
                synsets.add(" ".join(words))
        yield from (f"{code} {synset}" for synset in sorted(synsets))
    for code, name in WORDNET_FILES.items():
        for line in sorted(_data_lines(folder / f"{name}.exc")):
            if "_" not in line:
                yield f"!{code} {' '.join(line.split())}"


def _data_lines(path: Path) -> Iterator[str]:
    """The lines of a WordNet file without the licence text at its head."""
    for line in path.read_text(encoding="ascii").splitlines():
        if line and not line.startswith("  "):
            yield line


def _one_word_lemmas(line: str) -> list[str]:
    fields = line.split()
    count = int(fields[3], 16)
    lemmas = (SYNTACTIC_MARKER.sub("", w) for w in fields[4 : 4 + 2 * count : 2])
    return [lemma for lemma in lemmas if "_" not in lemma]


def punkt_lines(folder: Path) -> Iterator[str]:
    """`a` abbreviation, `c` collocation, `s` sentence starter, `o` spelling flags.

    Only ASCII entries: the sentence splitter is used for ASCII texts alone.
    """
    files = {
        "a": "abbrev_types.txt",
        "c": "collocations.tab",
        "s": "sent_starters.txt",
        "o": "ortho_context.tab",
    }
    for code, name in files.items():
        entries = (folder / name).read_text(encoding="utf-8").splitlines()
        yield from (f"{code}\t{e}" for e in sorted(set(entries)) if e and e.isascii())


def property_lines(path: Path) -> Iterator[str]:
    """`Number 61-7a 4e00`: the characters of each property as ranges, in hex."""
    table = _read_mapping(path)
    for name in PROPERTY_NAMES:
        points = sorted({ord(char) for char in table[name].strip()})
        yield f"{name} {' '.join(_ranges(points))}"


def _read_mapping(path: Path) -> dict[str, str]:
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".json":
        return dict(json.loads(text))
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign):
            return dict(ast.literal_eval(node.value))
    raise SystemExit(f"{path} holds no assignment of a dictionary")


def _ranges(points: list[int]) -> Iterator[str]:
    start = previous = points[0]
    for point in [*points[1:], -1]:
        if point != previous + 1:
            yield f"{start:x}" if start == previous else f"{start:x}-{previous:x}"
            start = point
        previous = point


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wordnet", type=Path)
    parser.add_argument("--punkt", type=Path)
    parser.add_argument("--properties", type=Path)
    given = parser.parse_args()
    if given.wordnet:
        write_table("wordnet", wordnet_lines(given.wordnet))
    if given.punkt:
        write_table("punkt_english", punkt_lines(given.punkt))
    if given.properties:
        write_table("characters", property_lines(given.properties))


if __name__ == "__main__":
    main()
