"""What an SVG holds, read without running, loading or unfolding anything in it.

The bytes are kept as they are: a page shows an SVG through an image element only,
where browsers run no script and load no other file. What is found is said.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

MAX_BYTES = 4 * 1024 * 1024
MAX_DEPTH = 256
MAX_ELEMENTS = 200_000
MAX_SIDE = 100_000
NAMESPACE = "http://www.w3.org/2000/svg"

SCRIPT = "The SVG holds a script, which is not run."
FOREIGN = "The SVG holds parts of a web page, which may not be shown."
OUTSIDE = "The SVG refers to other files, which are not loaded."
ENTITIES = "The SVG declares entities, which are not allowed."
BROKEN = "The SVG is incomplete or damaged."
TOO_LARGE = f"The SVG is not shown: it is larger than {MAX_BYTES // 1024 // 1024} MB."
NO_SVG = "The file is no SVG that a browser can show: its namespace is missing."

_LENGTH = re.compile(r"\s*\+?(\d{1,9}(?:\.\d{0,9})?|\.\d{1,9})\s*([a-z]*)\s*", re.I)
_PIXELS = {"": 1.0, "px": 1.0, "pt": 4 / 3, "pc": 16, "mm": 96 / 25.4, "cm": 96 / 2.54}
_PIXELS |= {"in": 96.0, "q": 96 / 101.6}
_OUTSIDE_STYLE = re.compile(r"@import|url\(\s*['\"]?\s*(?!['\"]?\s*(?:#|data:))", re.I)
_BLANKS = re.compile(r"[\0-\x20]+")


class NotShownError(Exception):
    """The sentence says why the SVG is not shown."""


@dataclass(slots=True)
class Drawing:
    """Pixels, None where the SVG does not say, and what was found in it."""

    width: int | None = None
    height: int | None = None
    findings: list[str] = field(default_factory=list)


def read(path: Path) -> Drawing:
    """Raises `NotShownError`. Time and memory are bounded by `MAX_BYTES`."""
    if path.stat().st_size > MAX_BYTES:
        raise NotShownError(TOO_LARGE)
    reader = _Reader()
    try:
        reader.parser.Parse(path.read_bytes(), True)  # noqa: FBT003 - no keyword there
    except expat.ExpatError:
        raise NotShownError(BROKEN) from None
    except (ValueError, LookupError):
        # An encoding that does not exist.
        raise NotShownError(BROKEN) from None
    return reader.drawing


class _Reader:
    def __init__(self) -> None:
        self.drawing = Drawing()
        self._depth = 0
        self._elements = 0
        self._in_style = False
        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text
        self.parser.ProcessingInstructionHandler = self._instruction
        self.parser.EntityDeclHandler = self._entity

    def _entity(self, *_declaration: object) -> None:
        raise NotShownError(ENTITIES)

    def _instruction(self, target: str, _data: str) -> None:
        if target == "xml-stylesheet":
            self._found(OUTSIDE)

    def _start(self, tag: str, attributes: Mapping[str, str]) -> None:
        namespace, _space, name = tag.rpartition(" ")
        if not self._elements:
            if (namespace, name) != (NAMESPACE, "svg"):
                raise NotShownError(NO_SVG)
            self._measure(attributes)
        self._depth += 1
        self._elements += 1
        if self._depth > MAX_DEPTH or self._elements > MAX_ELEMENTS:
            raise NotShownError(BROKEN)
        self._in_style = name == "style"
        if name == "script":
            self._found(SCRIPT)
        elif name == "foreignObject":
            self._found(FOREIGN)
        for key, value in attributes.items():
            self._attribute(name, key.rpartition(" ")[2].lower(), value)

    def _end(self, _tag: str) -> None:
        self._depth -= 1
        self._in_style = False

    def _text(self, text: str) -> None:
        if self._in_style and _OUTSIDE_STYLE.search(text):
            self._found(OUTSIDE)

    def _attribute(self, element: str, key: str, value: str) -> None:
        if key.startswith("on"):
            self._found(SCRIPT)
        elif key in ("href", "src"):
            target = _BLANKS.sub("", value[:200]).lower()
            if target.startswith(("javascript:", "vbscript:")):
                self._found(SCRIPT)
            elif element != "a" and not target.startswith(("#", "data:")) and target:
                self._found(OUTSIDE)
        elif _OUTSIDE_STYLE.search(value):
            self._found(OUTSIDE)

    def _found(self, sentence: str) -> None:
        if sentence not in self.drawing.findings:
            self.drawing.findings.append(sentence)

    def _measure(self, attributes: Mapping[str, str]) -> None:
        """Width and height as a browser takes them: own lengths, then the view box."""
        width = _pixels(attributes.get("width", ""))
        height = _pixels(attributes.get("height", ""))
        box = _view_box(attributes.get("viewBox", ""))
        if box is not None:
            ratio = box[0] / box[1]
            if width is None and height is None:
                width, height = box
            elif width is None and height is not None:
                width = height * ratio
            elif height is None and width is not None:
                height = width / ratio
        self.drawing.width, self.drawing.height = _whole(width), _whole(height)


def _pixels(text: str) -> float | None:
    """A length in CSS pixels; None for percentages and lengths in letters."""
    found = _LENGTH.fullmatch(text)
    if found is None or found[2].lower() not in _PIXELS:
        return None
    return float(found[1]) * _PIXELS[found[2].lower()]


def _view_box(text: str) -> tuple[float, float] | None:
    numbers = re.split(r"[\s,]+", text.strip()[:200])
    try:
        _left, _top, width, height = map(float, numbers)
    except ValueError:
        return None
    return (width, height) if 0 < width < MAX_SIDE and 0 < height < MAX_SIDE else None


def _whole(pixels: float | None) -> int | None:
    return max(1, round(pixels)) if pixels and pixels < MAX_SIDE else None
