"""What a rubric is generated from: a pasted prompt and reference files.

A file becomes text, an image a reference to a blob. What cannot be read is said in a
sentence that names the file; the others are taken. Agents and traces are further kinds
of sources, see `assay.scoring.rubric.generate`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from time import monotonic

from django.conf import settings

from assay.data.jsonx import JSON
from assay.data.media import BlobRef
from assay.data.text import Sentence, storable
from assay.data.text import gettext_noop as _
from assay.scoring.rubric.generate import MAX_SOURCE, Source
from blobs import store
from blobs.models import Blob
from blobs.sniff import HEAD_BYTES, mime_of
from rubrics.extract import UnreadableError, extract
from workspace.formats import filesize
from workspace.models import Project

MOST_FILES = 10
MOST_BYTES = 10 * 1024 * 1024
MOST_PROMPT = 100_000
SECONDS_EACH = 12.0
SECONDS_TOGETHER = 40.0
IMAGES = frozenset({"image/png", "image/jpeg", "image/webp", "image/gif"})
KINDS = {
    ".txt": "text",
    ".md": "text",
    ".markdown": "text",
    ".csv": "text",
    ".tsv": "text",
    ".json": "text",
    ".jsonl": "text",
    ".ndjson": "text",
    ".xml": "xml",
    ".html": "html",
    ".htm": "html",
    ".pdf": "pdf",
    ".docx": "docx",
}
"""How a file is read, by the end of its name. Images are known by their bytes."""
ACCEPT = ",".join([*KINDS, ".png", ".jpg", ".jpeg", ".webp", ".gif"])
READ_ASIDE = frozenset({"html", "xml", "docx", "pdf"})
PASSED_ON = ("PATH", "SYSTEMROOT")
"""What the process that reads files knows of our environment: no secrets."""
_PDF = b"%PDF-"
PROMPT = _("System prompt")
SENTENCES = {
    "empty": _("%(name)s is empty."),
    "too_large": _("%(name)s has %(size)s. A file may have %(limit)s."),
    "too_many": _("%(name)s was left out: at most %(most)s files are read."),
    "unknown": _(
        "%(name)s cannot be read. Give txt, md, csv, json, jsonl, xml, html, pdf or "
        "docx, or an image as png, jpeg, webp or gif."
    ),
    "not_text": _("%(name)s holds something else than text."),
    "broken_image": _("%(name)s is no image that can be shown. Save it again."),
    "broken_xml": _("%(name)s is not valid XML, see line and column %(detail)s."),
    "entities": _("%(name)s declares entities of its own. Save it without them."),
    "broken_docx": _("%(name)s is no Word document, or a broken one. Save it again."),
    "old_office": _(
        "%(name)s is in the old Word format or protected by a password. Save it as "
        "docx without a password."
    ),
    "broken_pdf": _("%(name)s is no PDF, or a broken one. Save it again."),
    "password": _("%(name)s is protected by a password. Save it without one."),
    "no_text_layer": _(
        "%(name)s has no text, only pictures of pages. Give them as images."
    ),
    "too_much": _("%(name)s unpacks to more than can be read. Give a part of it."),
    "too_slow": _("%(name)s takes too long to read. Give a part of it, or as text."),
    "missing": _("%(name)s is not on the server any more. Choose it again."),
}


@dataclass(frozen=True, slots=True)
class ReferenceFile:
    """A file that can be read. `content` is its text or a reference to an image, and
    None while a form only holds on to the file. `length` counts characters; an image
    has none."""

    name: str
    sha256: str
    size: int
    length: int = 0
    content: JSON = None

    @property
    def token(self) -> str:
        """How a form holds on to the file."""
        return f"{self.sha256}:{self.size}:{self.length}:{self.name}"

    @property
    def is_image(self) -> bool:
        return not self.length

    @property
    def is_cut(self) -> bool:
        return self.length > MAX_SOURCE

    def source(self) -> Source:
        content = self.content
        if isinstance(content, str):
            content = content[:MAX_SOURCE]
        return Source("dataset", self.name, content)

    def outline(self) -> Source:
        """A source of the same size, for warnings and estimates without reading."""
        image = BlobRef(self.sha256, "image/png", self.size).as_json()
        content: JSON = "x" * min(self.length, MAX_SOURCE) or image
        return Source("dataset", self.name, content)


def file_of(token: str) -> ReferenceFile | None:
    """The file that a form held on to; None for what is no token."""
    sha256, size, length, name, *_more = [*token.split(":", 3), "", "", ""]
    try:
        store.path_of(sha256)
        return ReferenceFile(clean_name(name), sha256, int(size), max(0, int(length)))
    except ValueError:
        return None


@dataclass(slots=True)
class Upload:
    """A file as it came: bytes, or (`sha256`) what was stored before.

    `size` is that of a file which was too large to be taken.
    """

    name: str
    data: bytes = b""
    sha256: str = ""
    size: int = 0


def clean_name(name: str) -> str:
    """A file's own name without folders, short enough to show."""
    last = storable(name.replace("\\", "/").rpartition("/")[2]).strip()
    stem, end = PurePath(last).stem, PurePath(last).suffix
    return f"{stem[: 100 - len(end)]}{end}"[:100] or "file"


def read_files(
    uploads: Sequence[Upload], *, project: Project, most: int = MOST_FILES
) -> tuple[list[ReferenceFile], list[Sentence]]:
    """The files that can be read, and a sentence for each that cannot.

    Bytes are stored, so that a form can hold on to them. Equal files count once.
    """
    found: dict[str, ReferenceFile] = {}
    problems: list[Sentence] = []
    until = monotonic() + SECONDS_TOGETHER
    for upload in uploads:
        try:
            if len(found) >= most:
                raise UnreadableError("too_many")
            file = _read(upload, project, seconds=until - monotonic())
        except UnreadableError as error:
            problems.append(_said(upload, error))
        else:
            found.setdefault(file.sha256, file)
    return list(found.values()), problems


def _said(upload: Upload, error: UnreadableError) -> Sentence:
    params = {
        "name": upload.name,
        "size": filesize(upload.size),
        "limit": filesize(MOST_BYTES),
        "most": MOST_FILES,
        "detail": error.detail,
    }
    return Sentence(SENTENCES[error.code], params)


def _read(upload: Upload, project: Project, *, seconds: float) -> ReferenceFile:
    """Raises `UnreadableError`."""
    data = upload.data
    if upload.sha256:
        data = _stored(upload.sha256, project)
    if max(upload.size, len(data)) > MOST_BYTES:
        upload.size = max(upload.size, len(data))
        raise UnreadableError("too_large")
    if not data.strip():
        raise UnreadableError("empty")
    mime = mime_of(data[:HEAD_BYTES])
    kind = "image" if mime in IMAGES else _kind(upload.name, data)
    text = "" if kind == "image" else _text(kind, data, seconds)
    blob = store.put_bytes(data, project=project)
    content: JSON = text or _shown(blob).as_json()
    return ReferenceFile(upload.name, blob.sha256, blob.size, len(text), content)


def _stored(sha256: str, project: Project) -> bytes:
    visible = Blob.objects.filter(sha256=sha256, projectblob__project=project)
    if not visible.exists():
        raise UnreadableError("missing")
    try:
        return store.read_bytes(sha256)[0]
    except FileNotFoundError:
        raise UnreadableError("missing") from None


def _kind(name: str, data: bytes) -> str:
    kind = KINDS.get(PurePath(name).suffix.lower())
    if data[:1024].lstrip().startswith(_PDF):
        return "pdf"
    if kind is None:
        raise UnreadableError("unknown")
    return kind


def _shown(blob: Blob) -> BlobRef:
    if blob.problem or not blob.is_shown:
        raise UnreadableError("broken_image")
    return BlobRef(blob.sha256, blob.mime, blob.size)


def _text(kind: str, data: bytes, seconds: float) -> str:
    """The text of a file, never blank. Raises `UnreadableError`."""
    found = _aside(kind, data, seconds) if kind in READ_ASIDE else extract(kind, data)
    text = storable(found).strip()
    if not text:
        raise UnreadableError("empty")
    return text


def _aside(kind: str, data: bytes, seconds: float) -> str:
    """`extract` in a process that is ended when it takes too long."""
    if seconds <= 0:
        raise UnreadableError("too_slow")
    try:
        done = subprocess.run(  # noqa: S603 - our own module, the file is its input
            [sys.executable, "-m", "rubrics.extract", kind],
            input=data,
            cwd=settings.BASE_DIR,
            env={name: os.environ[name] for name in PASSED_ON if name in os.environ},
            capture_output=True,
            timeout=min(seconds, SECONDS_EACH),
            check=True,
        )
        answer = json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        raise UnreadableError("too_slow") from None
    except (subprocess.CalledProcessError, ValueError):
        raise UnreadableError("too_much") from None
    if "code" in answer:
        raise UnreadableError(answer["code"], answer["detail"])
    return str(answer["text"])


def prompt_source(prompt: str) -> list[Source]:
    """The system prompt, when there is one."""
    return [Source("prompt", PROMPT, prompt)] if prompt.strip() else []


def image_count(sources: Iterable[Source]) -> int:
    return sum(not source.is_text for source in sources)
