"""The type of a medium by its first bytes. A declared type is never believed."""

from __future__ import annotations

import re
from typing import Final

UNKNOWN: Final = "application/octet-stream"
SVG: Final = "image/svg+xml"
INLINE: Final = frozenset(
    {
        "image/png",
        "image/jpeg",
        "image/gif",
        "image/webp",
        SVG,
        "audio/wav",
        "audio/mpeg",
        "audio/ogg",
        "audio/flac",
        "audio/mp4",
    }
)
"""Types that every current browser shows by itself."""
HEAD_BYTES: Final = 4096

NAMES: Final = {
    "image/bmp": "BMP",
    "image/tiff": "TIFF",
    "image/avif": "AVIF",
    "image/heic": "HEIC",
    "image/jp2": "JPEG 2000",
    "image/jxl": "JPEG XL",
    "image/vnd.microsoft.icon": "ICO",
    "image/vnd.adobe.photoshop": "PSD",
    "audio/aiff": "AIFF",
    "audio/amr": "AMR",
    "audio/midi": "MIDI",
    "audio/aac": "AAC",
    "audio/basic": "AU",
    "audio/x-caf": "CAF",
    "video/mp4": "MP4",
    "video/quicktime": "QuickTime",
    "video/webm": "WebM or Matroska",
    "video/x-msvideo": "AVI",
    "video/ogg": "Ogg Theora",
    "video/x-ms-asf": "Windows Media",
    "video/mpeg": "MPEG",
    "video/x-flv": "Flash Video",
}
"""Media that are recognised, and that pages do not show: type and name for people."""

_STARTS: list[tuple[bytes, str]] = [
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"fLaC", "audio/flac"),
    (b"ID3", "audio/mpeg"),
    (b"II*\0", "image/tiff"),
    (b"MM\0*", "image/tiff"),
    (b"II+\0", "image/tiff"),
    (b"MM\0+", "image/tiff"),
    (b"\0\0\0\x0cjP  \r\n\x87\n", "image/jp2"),
    (b"\0\0\0\x0cJXL \r\n\x87\n", "image/jxl"),
    (b"8BPS\0", "image/vnd.adobe.photoshop"),
    (b"MThd\0\0\0\x06", "audio/midi"),
    (b"#!AMR", "audio/amr"),
    (b".snd\0\0", "audio/basic"),
    (b"caff\0\x01", "audio/x-caf"),
    (b"\x1aE\xdf\xa3", "video/webm"),
    (b"\x30\x26\xb2\x75\x8e\x66\xcf\x11", "video/x-ms-asf"),
    (b"\0\0\x01\xba", "video/mpeg"),
    (b"FLV\x01", "video/x-flv"),
]
_RIFF = {b"WAVE": "audio/wav", b"WEBP": "image/webp", b"AVI ": "video/x-msvideo"}
_BRANDS = {
    b"M4A ": "audio/mp4",
    b"M4B ": "audio/mp4",
    b"avif": "image/avif",
    b"avis": "image/avif",
    b"heic": "image/heic",
    b"heix": "image/heic",
    b"hevc": "image/heic",
    b"mif1": "image/heic",
    b"msf1": "image/heic",
    b"qt  ": "video/quicktime",
}
# These say MP4 and not what is in it; a picture track is looked for in the whole file.
_MP4_BRANDS = (b"mp41", b"mp42", b"isom", b"iso2", b"iso5", b"iso6", b"dash", b"avc1")
_BMP_HEADERS = (12, 40, 52, 56, 64, 108, 124)
_ICO = re.compile(rb"\x00\x00\x01\x00[\x01-\x20]\x00.{3}\x00", re.DOTALL)
# Comments and instructions may stand before the root. The groups are atomic: no text
# is read twice.
_SVG = re.compile(
    rb"(?:\xef\xbb\xbf)?(?>\s+|<!--(?s:.*?)-->|<\?(?s:.*?)\?>)*+"
    rb"(?:<!DOCTYPE\s+svg\b|<(?:\w{1,20}:)?svg[\s/>])",
    re.IGNORECASE,
)


def mime_of(head: bytes) -> str:
    """The type of the medium that begins with `head`, or `UNKNOWN`.

    `head` is best `HEAD_BYTES` long: an SVG may begin with comments.
    """
    for magic, mime in _STARTS:
        if head.startswith(magic):
            return mime
    if head[4:8] == b"ftyp":
        return _mp4(head)
    if head[:4] in (b"RIFF", b"RF64"):
        return _RIFF.get(head[8:12], UNKNOWN)
    if head[:4] == b"FORM" and head[8:12] in (b"AIFF", b"AIFC"):
        return "audio/aiff"
    if head[:4] == b"OggS":
        return "video/ogg" if b"\x80theora" in head[:128] else "audio/ogg"
    if head[:2] == b"BM" and int.from_bytes(head[14:18], "little") in _BMP_HEADERS:
        return "image/bmp"
    if _ICO.match(head):
        return "image/vnd.microsoft.icon"
    if _SVG.match(head):
        return SVG
    return _mpeg_frame(head)


def _mp4(head: bytes) -> str:
    brand = head[8:12]
    if brand == b"mif1" and b"avif" in head[16:64]:
        return "image/avif"
    if brand in _MP4_BRANDS:
        return "audio/mp4"
    return "video/mp4" if brand.startswith(b"3gp") else _BRANDS.get(brand, UNKNOWN)


def _mpeg_frame(head: bytes) -> str:
    """MPEG audio by its frame: sync, version, layer, bit rate, sample rate."""
    if len(head) < 4 or head[0] != 0xFF or head[1] & 0xE0 != 0xE0:
        return UNKNOWN
    version, layer = head[1] >> 3 & 3, head[1] >> 1 & 3
    if head[1] & 0xF6 == 0xF0 and head[2] >> 2 & 15 < 13:
        return "audio/aac"
    bit_rate, sample_rate = head[2] >> 4, head[2] >> 2 & 3
    is_layer_3 = version != 1 and layer == 1
    fits = bit_rate not in (0, 15) and sample_rate != 3
    return "audio/mpeg" if is_layer_3 and fits else UNKNOWN
