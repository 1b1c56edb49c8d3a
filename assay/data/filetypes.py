"""Names a file that is no table, by its first bytes, and says the way out."""

from __future__ import annotations

import re

from assay.data.records import Problem

AGAIN = "add it again."
_ZIP_MEMBERS = [
    (b"xl/", "xlsx", f"This is an Excel file. Save it as CSV and {AGAIN}"),
    (b"word/", "docx", "This is a Word document. Only CSV and JSONL files are read."),
    (
        b"mimetypeapplication/vnd.oasis.opendocument",
        "ods",
        f"This is an OpenDocument file. Save it as CSV and {AGAIN}",
    ),
]
_ZIP = "This is a ZIP archive. Unpack it and add the CSV or JSONL file in it."
_COMPRESSED = "This file is compressed ({}). Unpack it and " + AGAIN
_SAVE_AS = "This is a file of type {}. Save it as CSV or JSONL and " + AGAIN
_IMAGE = (
    "This is an image ({}). Put images into a JSONL file as data URIs, "
    "in a column image_url."
)
_AUDIO = (
    "This is an audio file ({}). Put audio into a JSONL file as data URIs, "
    "in a column audio_data."
)
_MP3 = (
    "This is an MP3 file. Put audio into a JSONL file as data URIs, "
    "in a column audio_data."
)
_MAGIC: list[tuple[bytes, str, str]] = [
    (b"\x1f\x8b", "gzip", _COMPRESSED.format("gzip")),
    (b"BZh91AY&SY", "bzip2", _COMPRESSED.format("bzip2")),
    (b"\xfd7zXZ\x00", "xz", _COMPRESSED.format("xz")),
    (b"(\xb5/\xfd", "zstd", _COMPRESSED.format("Zstandard")),
    (b"7z\xbc\xaf\x27\x1c", "7z", _COMPRESSED.format("7-Zip")),
    (b"Rar!\x1a\x07", "rar", _COMPRESSED.format("RAR")),
    (
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        "xls",
        f"This is an old Office file (.xls, .doc). Save it as CSV and {AGAIN}",
    ),
    (b"%PDF-", "pdf", "This is a PDF document. Only CSV and JSONL files are read."),
    (b"\x89PNG\r\n\x1a\n", "png", _IMAGE.format("PNG")),
    (b"\xff\xd8\xff", "jpeg", _IMAGE.format("JPEG")),
    (b"GIF87a", "gif", _IMAGE.format("GIF")),
    (b"GIF89a", "gif", _IMAGE.format("GIF")),
    (b"OggS\x00", "ogg", _AUDIO.format("Ogg")),
    (b"fLaC\x00", "flac", _AUDIO.format("FLAC")),
    (b"ID3\x02", "mp3", _MP3),
    (b"ID3\x03", "mp3", _MP3),
    (b"ID3\x04", "mp3", _MP3),
    (b"PAR1\x15", "parquet", _SAVE_AS.format("Parquet")),
    (b"ARROW1\x00", "arrow", _SAVE_AS.format("Arrow")),
    (b"SQLite format 3\x00", "sqlite", _SAVE_AS.format("SQLite")),
]
_LFS = b"version https://git-lfs.github.com/spec/"
_HTML = re.compile(rb"<(!doctype\s+html|html|head|body)\b", re.IGNORECASE)
_SVG = re.compile(rb"<(!doctype\s+)?([\w.-]{1,40}:)?svg[\s/>]", re.IGNORECASE)
_XML = re.compile(
    rb"<!doctype\s|<[a-z_][\w:.-]*\s[^<>]*\bxmlns\b|"
    rb"<[a-z_][\w:.-]*(\s[^<>]*)?>([ \t]*\r?\n\s*)?<[a-z_!?/]",
    re.IGNORECASE,
)
"""A root with a name space, or one that another element follows. Headers of tables
such as `<DATE>,<TIME>` are neither."""
_MP3_RATES = {
    3: (44_100, 48_000, 32_000),
    2: (22_050, 24_000, 16_000),
    0: (11_025, 12_000, 8_000),
}
_MP3_KBITS_1 = (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320)
_MP3_KBITS_2 = (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160)
_CONTROL = bytes(set(range(32)) - {9, 10, 11, 12, 13, 27})


def foreign(head: bytes) -> Problem | None:
    """The refusal of a file that is something else, or None when it may be text."""
    if not head.strip():
        return _refuse("empty_file", "The file is empty.")
    return _archive(head) or _by_magic(head) or _by_text(head)


def binary(head: bytes) -> Problem | None:
    """The refusal of bytes that no text encoding explains."""
    odd = len(head) - len(head.translate(None, _CONTROL))
    if odd > max(8, len(head) // 20):
        return _refuse(
            "binary", "This is a binary file. Only CSV and JSONL files are read."
        )
    return None


def _archive(head: bytes) -> Problem | None:
    if not head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return None
    for member, code, message in _ZIP_MEMBERS:
        if member in head:
            return _refuse(code, message)
    return _refuse("zip", _ZIP)


def _by_magic(head: bytes) -> Problem | None:
    for magic, code, message in _MAGIC:
        if head.startswith(magic):
            return _refuse(code, message)
    if head.startswith(b"RIFF") and head[8:12] == b"WAVE":
        return _refuse("wav", _AUDIO.format("WAV"))
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        return _refuse("webp", _IMAGE.format("WebP"))
    return _refuse("mp3", _MP3) if _is_mp3(head) else None


def _is_mp3(head: bytes) -> bool:
    """True when an MPEG frame of layer III begins the file and another follows it.
    One alone proves nothing: Cyrillic text may begin with the same bytes."""
    length = _frame_bytes(head[:4])
    return length > 0 and _frame_bytes(head[length : length + 4]) > 0


def _frame_bytes(header: bytes) -> int:
    """The length of the frame that `header` begins, or 0."""
    if len(header) < 4 or header[0] != 0xFF or header[1] & 0xE6 != 0xE2:
        return 0
    version, kbits, rate = header[1] >> 3 & 3, header[2] >> 4, header[2] >> 2 & 3
    if version == 1 or kbits in (0, 15) or rate == 3:
        return 0
    bits = (_MP3_KBITS_1 if version == 3 else _MP3_KBITS_2)[kbits] * 1000
    factor = 144 if version == 3 else 72
    return factor * bits // _MP3_RATES[version][rate] + (header[2] >> 1 & 1)


def _by_text(head: bytes) -> Problem | None:
    text = head.removeprefix(b"\xef\xbb\xbf")
    if text.startswith(_LFS):
        return _refuse(
            "lfs_pointer",
            f"This is a Git LFS pointer, not the data. Run git lfs pull and {AGAIN}",
            line=1,
        )
    start = text.lstrip()
    root = _without_prolog(start)[:4096]
    if _HTML.match(root):
        return _refuse(
            "html",
            "This is a web page (HTML), not a data file. A download that needs a "
            "sign-in often saves its sign-in page instead.",
            line=1,
        )
    if _SVG.match(root):
        return _refuse("svg", _IMAGE.format("SVG"))
    if start.startswith(b"<?xml") or _XML.match(root):
        return _refuse("xml", _SAVE_AS.format("XML"))
    return None


def _without_prolog(text: bytes) -> bytes:
    """`text` from its first element or document type on."""
    while True:
        text = text.lstrip()
        for mark, end in ((b"<!--", b"-->"), (b"<?", b"?>")):
            if text.startswith(mark):
                text = text.partition(end)[2]
                break
        else:
            return text


def _refuse(code: str, message: str, line: int | None = None) -> Problem:
    return Problem(code, message, line=line, is_fatal=True)
