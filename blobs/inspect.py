"""What a medium is: size of an image, length and waveform of a WAV, a thumbnail.

Nothing here trusts the medium: an image is opened by the decoder of its sniffed type
only, never above a number of pixels, and whatever a decoder says about broken data
becomes a sentence.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from blobs import wav
from blobs.durations import length_of

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


@dataclass(slots=True)
class Facts:
    """What could be found out; `problem` is a sentence for people."""

    width: int | None = None
    height: int | None = None
    duration: float | None = None
    waveform: list[int] = field(default_factory=list)
    problem: str = ""


def examine(path: Path, mime: str, thumb: Path) -> Facts:
    """The facts of the medium at `path`; writes a thumbnail of an image to `thumb`."""
    if mime in _DECODERS:
        return _image(path, _DECODERS[mime], thumb)
    if mime == "audio/wav":
        return _wav(path)
    return Facts(duration=length_of(path, mime))


def _image(path: Path, decoder: str, thumb: Path) -> Facts:
    from PIL import Image  # costly to import, only needed when media come in

    facts = Facts()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(path, formats=[decoder]) as image:
                facts.width, facts.height = image.size
                if image.width * image.height > MAX_PIXELS:
                    facts.problem = _too_many_pixels(image.width, image.height)
                    return facts
                _write_thumb(image, thumb)
    except Image.DecompressionBombError:
        facts.problem = "The image has too many pixels."
    except Exception:
        # Decoders answer broken data with whatever they stumbled over: OSError,
        # SyntaxError, ValueError, IndexError, struct.error.
        facts.problem = (
            "The image is incomplete or damaged."
            if facts.width
            else "The image cannot be read."
        )
    return facts


def _too_many_pixels(width: int, height: int) -> str:
    limit = MAX_PIXELS // 1_000_000
    return (
        f"The image has too many pixels: {width:,} × {height:,}. "
        f"The limit is {limit} million."
    )


def _write_thumb(image: Image.Image, thumb: Path) -> None:
    box = (THUMB_PIXELS, THUMB_PIXELS)
    image.draft("RGB", box)
    if image.mode not in ("RGB", "RGBA"):
        has_alpha = image.mode in ("LA", "PA") or "transparency" in image.info
        small = image.convert("RGBA" if has_alpha else "RGB")
    else:
        small = image.copy()
    small.thumbnail(box)
    part = thumb.with_suffix(".part")
    small.save(part, "WEBP", quality=80)
    part.replace(thumb)


def _wav(path: Path) -> Facts:
    try:
        sound = wav.read(path)
    except wav.NotPlayableError as error:
        return Facts(problem=str(error))
    return Facts(duration=sound.duration, waveform=sound.levels)
