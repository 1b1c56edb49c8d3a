"""Length and waveform of a WAV file, read from its chunks.

Length fields that lie (streaming encoders write FFFFFFFF, broken files promise more
than they hold) are bounded by the size of the file.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Samples = NDArray[np.float64]

BARS = 60
PCM, FLOAT, A_LAW, MU_LAW, EXTENSIBLE = 1, 3, 6, 7, 0xFFFE
PLAYED = (PCM, FLOAT, A_LAW, MU_LAW)
CODECS = {
    0x02: "Microsoft ADPCM",
    0x11: "IMA ADPCM",
    0x31: "GSM 6.10",
    0x50: "MPEG layer II",
    0x55: "MP3 inside WAV",
    0x161: "Windows Media Audio",
}
"""Encodings that not every browser plays, by their code."""
UNKNOWN_LENGTH = 0x7FFF_0000
"""From here on a length field only says that the end was not known (streaming)."""
_SAMPLES_PER_BAR = 2000


class NotPlayableError(Exception):
    """The sentence says why there is nothing to hear."""


@dataclass(slots=True)
class Sound:
    """Seconds, and up to 60 levels from 0 to 100 (none for compressed sound).

    `problem` is a sentence for people; `is_played` False when browsers do not play it.
    """

    duration: float
    levels: list[int] = field(default_factory=list)
    problem: str = ""
    is_played: bool = True


@dataclass(frozen=True, slots=True)
class _Format:
    code: int
    channels: int
    bytes_per_second: int
    frame_bytes: int
    bits: int


def read(path: Path) -> Sound:
    """Raises `NotPlayableError` when the file holds no sound."""
    with path.open("rb") as file:
        file_size = path.stat().st_size
        form, start, promised = _chunks(file, file_size)
        there = file_size - start
        length = min(promised, there)
        if length < form.frame_bytes:
            message = "The recording holds no samples."
            raise NotPlayableError(message)
        duration = round(length / form.bytes_per_second, 3)
        sound = Sound(duration, _levels(file, form, start, length))
        if promised > there and promised < UNKNOWN_LENGTH:
            whole = promised / form.bytes_per_second
            sound.problem = (
                f"The recording is incomplete: {duration:.2f} of {whole:.2f} seconds."
            )
        if form.code not in PLAYED:
            codec = CODECS.get(form.code, f"of encoding {form.code}")
            sound.problem = f"The recording is {codec}, which browsers do not play."
            sound.is_played = False
        return sound


def _chunks(file: BinaryIO, file_size: int) -> tuple[_Format, int, int]:
    """The format, where the samples begin and how many bytes the header promises."""
    position, form = 12, None
    while position + 8 <= file_size:
        file.seek(position)
        name, length = struct.unpack("<4sI", file.read(8))
        start = position + 8
        if name == b"fmt ":
            form = _format(file.read(min(length, 40)))
        elif name == b"data" and form is not None:
            return form, start, length
        position = start + length + length % 2
    message = "The recording is incomplete or damaged."
    raise NotPlayableError(message)


def _format(data: bytes) -> _Format:
    if len(data) < 16:
        message = "The recording is incomplete or damaged."
        raise NotPlayableError(message)
    code, channels, _rate, per_second, frame, bits = struct.unpack("<HHIIHH", data[:16])
    if code == EXTENSIBLE and len(data) >= 26:
        (code,) = struct.unpack("<H", data[24:26])
    if not (channels and per_second and frame):
        message = "The header of the recording makes no sense."
        raise NotPlayableError(message)
    return _Format(code, channels, per_second, frame, bits)


def _levels(file: BinaryIO, form: _Format, start: int, length: int) -> list[int]:
    """The loudness of 60 stretches, each judged by the samples at its beginning."""
    frames = length // form.frame_bytes
    bars = min(BARS, frames)
    peaks: list[float] = []
    for bar in range(bars):
        first = frames * bar // bars
        stretch = max(1, frames * (bar + 1) // bars - first)
        wanted = min(stretch, _SAMPLES_PER_BAR)
        file.seek(start + first * form.frame_bytes)
        samples = _samples(file.read(wanted * form.frame_bytes), form)
        if samples is None:
            return []
        peaks.append(_root_mean_square(samples))
    loudest = max(peaks)
    if loudest <= 0:
        return [0] * bars
    return [round(100 * peak / loudest) for peak in peaks]


def _samples(data: bytes, form: _Format) -> Samples | None:
    """Samples from -1 to 1, or None for an encoding that is not understood."""
    import numpy as np  # costly to import, only needed when media come in

    width = form.bits // 8
    data = data[: len(data) // max(1, width) * max(1, width)]
    samples: Samples | None = None
    if form.code == FLOAT and width in (4, 8):
        samples = np.nan_to_num(np.frombuffer(data, f"<f{width}").astype(np.float64))
    elif form.code != PCM:
        return None
    elif width == 1:
        samples = (np.frombuffer(data, np.uint8).astype(np.float64) - 128) / 128
    elif width == 3:
        wide = np.zeros((len(data) // 3, 4), np.uint8)
        wide[:, 1:] = np.frombuffer(data, np.uint8).reshape(-1, 3)
        samples = wide.view("<i4")[:, 0].astype(np.float64) / 2**31
    elif width in (2, 4):
        samples = np.frombuffer(data, f"<i{width}").astype(np.float64)
        samples /= 2 ** (form.bits - 1)
    return samples


def _root_mean_square(samples: Samples) -> float:
    if not samples.size:
        return 0.0
    return float((samples.clip(-1, 1) ** 2).mean() ** 0.5)
