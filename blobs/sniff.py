"""The type of a medium by its first bytes. A declared type is never believed."""

from __future__ import annotations

from typing import Final

UNKNOWN: Final = "application/octet-stream"
INLINE: Final = frozenset(
    {
        "image/png",
        "image/jpeg",
        "image/gif",
        "image/webp",
        "audio/wav",
        "audio/mpeg",
        "audio/ogg",
        "audio/flac",
        "audio/mp4",
    }
)
"""Types that a browser shows by itself without running anything."""
HEAD_BYTES: Final = 64

_STARTS: list[tuple[bytes, str]] = [
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"OggS", "audio/ogg"),
    (b"fLaC", "audio/flac"),
    (b"ID3", "audio/mpeg"),
]
_M4A_BRANDS = (b"M4A ", b"M4B ", b"mp42", b"mp41", b"isom", b"dash", b"iso5")


def mime_of(head: bytes) -> str:
    """The type of the medium that begins with `head`, or `UNKNOWN`."""
    for magic, mime in _STARTS:
        if head.startswith(magic):
            return mime
    if head[:4] in (b"RIFF", b"RF64"):
        return {b"WAVE": "audio/wav", b"WEBP": "image/webp"}.get(head[8:12], UNKNOWN)
    if head[4:8] == b"ftyp" and head[8:12] in _M4A_BRANDS:
        return "audio/mp4"
    return "audio/mpeg" if _is_mpeg_frame(head) else UNKNOWN


def _is_mpeg_frame(head: bytes) -> bool:
    """A header of MPEG audio layer III: sync, version, layer, bit rate, sample rate."""
    if len(head) < 4 or head[0] != 0xFF or head[1] & 0xE0 != 0xE0:
        return False
    version, layer = head[1] >> 3 & 3, head[1] >> 1 & 3
    bit_rate, sample_rate = head[2] >> 4, head[2] >> 2 & 3
    return version != 1 and layer == 1 and bit_rate not in (0, 15) and sample_rate != 3
