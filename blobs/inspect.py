"""What a medium is: size of an image, length and waveform of a WAV, a thumbnail.

Nothing here trusts the medium: an image is opened by the decoder of its sniffed type
only, never above a number of pixels, and whatever a decoder says about broken data
becomes a sentence.
"""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from blobs import svg, wav
from blobs.durations import length_of
from blobs.sniff import NAMES, SVG

if TYPE_CHECKING:
    from PIL import Image

MAX_PIXELS = 40_000_000
THUMB_PIXELS = 320
_DECODERS = {
    "image/png": "PNG",
    "image/jpeg": "JPEG",
    "image/gif": "GIF",
    "image/webp": "WEBP",
}
_WORDS = {"image": "an image", "audio": "a recording", "video": "a video"}
_CUT = re.compile("truncated|unexpected end|end of file|premature", re.IGNORECASE)
_SCAN_BYTES = 4 * 1024 * 1024


@dataclass(slots=True)
class Facts:
    """What could be found out; `problem` is a sentence for people.

    `is_shown` is False when a page cannot show or play the medium. `mime` is set when
    the whole file tells another type than its beginning.
    """

    width: int | None = None
    height: int | None = None
    duration: float | None = None
    waveform: list[int] = field(default_factory=list)
    problem: str = ""
    is_shown: bool = True
    mime: str = ""

    def refuse(self, problem: str) -> Facts:
        """Not shown, because of `problem`."""
        self.problem, self.is_shown = problem, False
        return self


def examine(path: Path, mime: str, thumb: Path) -> Facts:
    """The facts of the medium at `path`; writes a thumbnail of an image to `thumb`."""
    if path.stat().st_size == 0:
        return Facts().refuse("The file is empty.")
    if mime in NAMES:
        return Facts().refuse(_not_shown(mime))
    if mime in _DECODERS:
        return _image(path, _DECODERS[mime], thumb)
    if mime == SVG:
        return _svg(path)
    if mime == "audio/wav":
        return _wav(path)
    if mime == "audio/mp4" and _has_pictures(path):
        return Facts(mime="video/mp4").refuse(_not_shown("video/mp4"))
    if mime == "audio/ogg" and (codec := _unplayed_ogg(path)):
        return Facts().refuse(f"The recording is {codec}, which browsers do not play.")
    return Facts(duration=length_of(path, mime))


def _not_shown(mime: str) -> str:
    words = _WORDS[mime.partition("/")[0]]
    return f"This is {words} of type {NAMES[mime]}, which pages cannot show."


def _image(path: Path, decoder: str, thumb: Path) -> Facts:
    from PIL import Image  # costly to import, only needed when media come in

    facts = Facts()
    try:
        if decoder == "WEBP":
            # Its decoder takes the memory of the whole picture when it is opened.
            facts.width, facts.height = _webp_size(path)
            if _is_too_large(facts):
                return facts
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(path, formats=[decoder]) as image:
                facts.width, facts.height = image.size
                if not _is_too_large(facts):
                    _write_thumb(image, thumb)
    except Image.DecompressionBombError:
        facts.refuse("The picture has too many pixels.")
    except Exception as error:
        # Decoders answer broken data with whatever they stumbled over: OSError,
        # SyntaxError, ValueError, IndexError, struct.error.
        facts.refuse(_broken(error, is_open=facts.width is not None))
    return facts


def _broken(error: Exception, *, is_open: bool) -> str:
    if not is_open:
        return "The picture cannot be read."
    is_cut = isinstance(error, EOFError) or _CUT.search(str(error)) is not None
    return "The picture is incomplete." if is_cut else "The picture is damaged."


def _is_too_large(facts: Facts) -> bool:
    width, height = facts.width or 0, facts.height or 0
    if width * height <= MAX_PIXELS:
        return False
    limit = MAX_PIXELS // 1_000_000
    facts.refuse(
        f"The picture has too many pixels: {width:,} × {height:,}. "
        f"The limit is {limit} million."
    )
    return True


def _webp_size(path: Path) -> tuple[int, int]:
    """Width and height in pixels by the first chunk. Raises `ValueError`."""
    with path.open("rb") as file:
        head = file.read(30)
    if len(head) == 30 and head[12:16] == b"VP8X":
        sides = head[24:27], head[27:30]
        width, height = (int.from_bytes(side, "little") + 1 for side in sides)
        return width, height
    if len(head) == 30 and head[12:16] == b"VP8L":
        bits = int.from_bytes(head[21:25], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if len(head) == 30 and head[12:16] == b"VP8 ":
        sides = head[26:28], head[28:30]
        width, height = (int.from_bytes(side, "little") & 0x3FFF for side in sides)
        return width, height
    raise ValueError("no size")


def _write_thumb(image: Image.Image, thumb: Path) -> None:
    box = (THUMB_PIXELS, THUMB_PIXELS)
    image.draft("RGB", box)
    if image.mode not in ("RGB", "RGBA"):
        has_alpha = image.mode in ("LA", "PA") or "transparency" in image.info
        small = image.convert("RGBA" if has_alpha else "RGB")
    else:
        small = image
    small.thumbnail(box)
    part = thumb.with_suffix(".part")
    small.save(part, "WEBP", quality=80)
    part.replace(thumb)


def _svg(path: Path) -> Facts:
    try:
        drawing = svg.read(path)
    except svg.NotShownError as error:
        return Facts().refuse(str(error))
    return Facts(drawing.width, drawing.height, problem=" ".join(drawing.findings))


def _wav(path: Path) -> Facts:
    try:
        sound = wav.read(path)
    except wav.NotPlayableError as error:
        return Facts().refuse(str(error))
    facts = Facts(duration=sound.duration, waveform=sound.levels, problem=sound.problem)
    facts.is_shown = sound.is_played
    return facts


def _has_pictures(path: Path) -> bool:
    """Whether an MP4 has a picture track, by the handlers at its begin and its end."""
    with path.open("rb") as file:
        found = _names_pictures(file.read(_SCAN_BYTES))
        if not found and path.stat().st_size > _SCAN_BYTES:
            file.seek(max(_SCAN_BYTES, path.stat().st_size - _SCAN_BYTES))
            found = _names_pictures(file.read())
    return found


def _names_pictures(data: bytes) -> bool:
    return re.search(rb"hdlr.{8}vide", data, re.DOTALL) is not None


def _unplayed_ogg(path: Path) -> str:
    """The name of the encoding when it is none that browsers play, else ""."""
    with path.open("rb") as file:
        head = file.read(128)
    if b"Speex   " in head:
        return "Speex"
    played = (b"\x01vorbis", b"OpusHead", b"\x7fFLAC")
    is_known = any(mark in head for mark in played)
    return "" if is_known or len(head) < 64 else "of an unknown encoding"
