"""Length in seconds of compressed sound, from its headers; None when they do not tell.

Nothing is decoded. An MP3 without a header of its own length counts as constant bit
rate.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import BinaryIO

MPEG1_RATES = (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320)
MPEG2_RATES = (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160)
SAMPLE_RATES = {
    3: (44100, 48000, 32000),
    2: (22050, 24000, 16000),
    0: (11025, 12000, 8000),
}
_TAIL = 65_536 + 4096


def length_of(path: Path, mime: str) -> float | None:
    """The length of the recording at `path`."""
    readers = {"audio/mpeg": _mp3, "audio/flac": _flac, "audio/ogg": _ogg}
    reader = readers.get(mime)
    if reader is None:
        return None
    size = path.stat().st_size
    with path.open("rb") as file:
        try:
            seconds = reader(file, size)
        except (struct.error, IndexError, ZeroDivisionError):
            return None
    return round(seconds, 3) if seconds and seconds < 10**6 else None


def _mp3(file: BinaryIO, size: int) -> float | None:
    start = 0
    head = file.read(10)
    if head[:3] == b"ID3":
        for byte in head[6:]:
            start = start << 7 | byte
        start += 10
    file.seek(start)
    frame = file.read(4096)
    at = next((i for i in range(len(frame) - 4) if _is_frame(frame[i : i + 4])), None)
    if at is None:
        return None
    version, rate_index = frame[at + 1] >> 3 & 3, frame[at + 2] >> 4
    sample_rate = SAMPLE_RATES[version][frame[at + 2] >> 2 & 3]
    samples = 1152 if version == 3 else 576
    for mark in (b"Xing", b"Info"):
        place = frame.find(mark, at, at + 200)
        if place >= 0 and frame[place + 7] & 1:
            (frames,) = struct.unpack(">I", frame[place + 8 : place + 12])
            return float(frames * samples / sample_rate)
    rates = MPEG1_RATES if version == 3 else MPEG2_RATES
    return (size - start - at) * 8 / (rates[rate_index] * 1000)


def _is_frame(head: bytes) -> bool:
    return (
        head[0] == 0xFF
        and head[1] & 0xE6 == 0xE2
        and head[1] >> 3 & 3 != 1
        and head[2] >> 4 not in (0, 15)
        and head[2] >> 2 & 3 != 3
    )


def _flac(file: BinaryIO, _size: int) -> float | None:
    """The first block tells sample rate (20 bits) and number of samples (36 bits)."""
    head = file.read(42)
    rate = int.from_bytes(head[18:21], "big") >> 4
    samples = int.from_bytes(head[21:26], "big") & (2**36 - 1)
    return samples / rate


def _ogg(file: BinaryIO, size: int) -> float | None:
    """The position of the last page, in samples; Opus always counts 48,000 a second."""
    head = file.read(128)
    vorbis = head.find(b"\x01vorbis")
    if vorbis >= 0:
        (rate,) = struct.unpack("<I", head[vorbis + 12 : vorbis + 16])
    elif b"OpusHead" in head:
        rate = 48_000
    else:
        return None
    file.seek(max(0, size - _TAIL))
    tail = file.read()
    last = tail.rfind(b"OggS")
    (position,) = struct.unpack("<q", tail[last + 6 : last + 14])
    return float(position / rate)
