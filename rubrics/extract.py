"""Text out of reference files, in its own process: `python -m rubrics.extract html`.

Files come from anywhere, and their readers can be made to run or grow without end. The
process gets the file on its standard input, has limits of its own, is ended by its
parent when it takes too long, loads no Django and opens nothing else.
"""

from __future__ import annotations

import io
import json
import re
import sys
import zipfile
import zlib
from collections.abc import Callable
from contextlib import suppress
from html.parser import HTMLParser
from xml.parsers import expat

from assay.data.encodings import detect

MOST_CHARACTERS = 200_000
MOST_PAGES = 300
MOST_UNPACKED = 64 * 1024 * 1024
MOST_MEMORY = 1024 * 1024 * 1024
SECONDS = 20
_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main "
_OLD_OFFICE = b"\xd0\xcf\x11\xe0"


class UnreadableError(Exception):
    """The file gives no text. `code` names the reason; `detail` is where."""

    def __init__(self, code: str, detail: str = "") -> None:
        super().__init__(code)
        self.code = code
        self.detail = detail


def decoded(data: bytes) -> str:
    """Text of any encoding. Raises `UnreadableError` for what is no text."""
    text = data.decode(detect(data[: 256 * 1024]).name, "replace").lstrip("\ufeff")
    strange = sum(c < " " and c not in "\t\n\r\f" for c in text[:10_000])
    if strange > len(text[:10_000]) // 100:
        raise UnreadableError("not_text")
    return text.replace("\r\n", "\n").replace("\r", "\n")


class _Page(HTMLParser):
    """What a reader of a page sees. References become characters, nothing is loaded."""

    HIDDEN = frozenset({"script", "style", "template", "noscript", "svg", "iframe"})
    INLINE = re.compile(
        "a|abbr|b|bdi|bdo|cite|code|data|dfn|em|font|i|kbd|mark|q|s|samp|small|span|"
        "strong|sub|sup|time|u|var|wbr"
    )

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []
        self._hidden = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if not self._hidden and tag in self.HIDDEN:
            self._hidden = tag
        self._break(tag)
        if tag == "li" and not self._hidden:
            self.pieces.append("- ")

    def handle_endtag(self, tag: str) -> None:
        if tag == self._hidden:
            self._hidden = ""
        self._break(tag)

    def _break(self, tag: str) -> None:
        if not self.INLINE.fullmatch(tag):
            self.pieces.append(" " if tag in {"td", "th"} else "\n")

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.pieces.append(data if data.strip() else " ")


def from_html(data: bytes) -> str:
    page = _Page()
    page.feed(decoded(data))
    page.close()
    return tidied("".join(page.pieces))


def tidied(text: str) -> str:
    """Blanks in a row as one, at most one empty line."""
    lines = [" ".join(line.split()) for line in text.splitlines()]
    kept = [
        line for at, line in enumerate(lines) if line or (at and lines[at - 1] != "")
    ]
    return "\n".join(kept).strip()


def parse_xml(
    data: bytes,
    *,
    start: Callable[[str, dict[str, str]], None],
    end: Callable[[str], None],
    text: Callable[[str], None],
) -> None:
    """Walk through XML. Entities of its own are refused, nothing is loaded.

    Raises `UnreadableError`.
    """
    try:
        _parsed(expat.ParserCreate(namespace_separator=" "), data, start, end, text)
    except expat.ExpatError as error:
        place = f"{error.lineno}:{error.offset + 1}"
        raise UnreadableError("broken_xml", place) from None


def _parsed(
    parser: expat.XMLParserType,
    data: bytes,
    start: Callable[[str, dict[str, str]], None],
    end: Callable[[str], None],
    text: Callable[[str], None],
) -> None:
    def refuse(*_declared: object) -> None:
        raise UnreadableError("entities")

    parser.buffer_text = True
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = text
    parser.EntityDeclHandler = refuse
    parser.Parse(data, True)  # noqa: FBT003 - it takes no name


class _Outline:
    """XML as indented lines of `name attribute="value": text`."""

    DEEPEST = 40

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._depth = 0

    def start(self, name: str, attributes: dict[str, str]) -> None:
        said = "".join(f' {_plain(k)}="{v}"' for k, v in attributes.items())
        indent = "  " * min(self._depth, self.DEEPEST)
        self.lines.append(f"{indent}{_plain(name)}{said}:")
        self._depth += 1

    def end(self, _name: str) -> None:
        self._depth -= 1

    def text(self, text: str) -> None:
        if words := " ".join(text.split()):
            self.lines[-1] += f" {words}"


def _plain(name: str) -> str:
    """A name without its namespace."""
    return name.rpartition(" ")[2]


def from_xml(data: bytes) -> str:
    outline = _Outline()
    parse_xml(data, start=outline.start, end=outline.end, text=outline.text)
    return "\n".join(outline.lines)


class _Letter:
    """The text of a Word document, a line for each paragraph."""

    BREAKS = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
    ENDS = {"p": "\n", "tc": "\t"}

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self._in_text = False

    def start(self, name: str, _attributes: dict[str, str]) -> None:
        if name.startswith(_WORD):
            tag = _plain(name)
            self._in_text = tag == "t"
            self.pieces.append(self.BREAKS.get(tag, ""))

    def end(self, name: str) -> None:
        self._in_text = False
        if name.startswith(_WORD):
            self.pieces.append(self.ENDS.get(_plain(name), ""))

    def text(self, text: str) -> None:
        if self._in_text:
            self.pieces.append(text)


def from_docx(data: bytes) -> str:
    if data.startswith(_OLD_OFFICE):
        raise UnreadableError("old_office")
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
        with archive, archive.open("word/document.xml") as file:
            document = file.read(MOST_UNPACKED + 1)
    except (KeyError, zipfile.BadZipFile, zlib.error, EOFError, OSError):
        raise UnreadableError("broken_docx") from None
    except NotImplementedError:
        raise UnreadableError("broken_docx") from None
    except RuntimeError:  # what the archive reader says to a password
        raise UnreadableError("password") from None
    if len(document) > MOST_UNPACKED:
        raise UnreadableError("too_much")
    letter = _Letter()
    parse_xml(document, start=letter.start, end=letter.end, text=letter.text)
    return tidied("".join(letter.pieces))


def from_pdf(data: bytes) -> str:
    """The text layer, page by page. Pictures of text have none."""
    from pypdf import PdfReader
    from pypdf.errors import DependencyError, FileNotDecryptedError, PyPdfError

    try:
        reader = PdfReader(io.BytesIO(data))
        # Many files are encrypted with an empty password: they open for everybody.
        if reader.is_encrypted and not reader.decrypt(""):
            raise UnreadableError("password")
        texts: list[str] = []
        room = MOST_CHARACTERS
        for page in reader.pages[:MOST_PAGES]:
            texts.append(page.extract_text())
            room -= len(texts[-1])
            if room <= 0:
                break
    except (FileNotDecryptedError, DependencyError):
        raise UnreadableError("password") from None
    except (PyPdfError, ValueError, KeyError, TypeError, AttributeError, OSError):
        raise UnreadableError("broken_pdf") from None
    except (IndexError, AssertionError, ArithmeticError, RecursionError):
        raise UnreadableError("broken_pdf") from None
    found = "\n\n".join(text.strip() for text in texts).strip()
    if not found:
        raise UnreadableError("no_text_layer")
    return found


READERS: dict[str, Callable[[bytes], str]] = {
    "text": decoded,
    "html": from_html,
    "xml": from_xml,
    "docx": from_docx,
    "pdf": from_pdf,
}


def extract(kind: str, data: bytes) -> str:
    """The text of a file of a kind of `READERS`. Raises `UnreadableError`."""
    try:
        return READERS[kind](data)[:MOST_CHARACTERS]
    except MemoryError:
        raise UnreadableError("too_much") from None


def _limit() -> None:
    """As far as the system allows it; the parent ends the process in any case."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def main(kind: str) -> None:
    """The file comes in; out goes `{"text"}`, or `{"code", "detail"}`."""
    data = sys.stdin.buffer.read()
    try:
        found = {"text": extract(kind, data)}
    except UnreadableError as error:
        found = {"code": error.code, "detail": error.detail}
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    _limit()
    main(sys.argv[1])
