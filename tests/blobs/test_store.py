from __future__ import annotations

import hashlib
import io
import struct
import warnings
import zlib

import pytest
from PIL import Image

from blobs import store
from blobs.models import Blob, ProjectBlob
from blobs.queries import describe, with_media
from blobs.sniff import UNKNOWN, mime_of
from tests.factories import make_project, png, wav

pytestmark = pytest.mark.django_db


def test_a_blob_is_named_by_its_content(project, settings):
    blob = store.put_stream([b"ab", b"c"], project=project)
    sha = hashlib.sha256(b"abc").hexdigest()
    assert (blob.sha256, blob.size, blob.mime) == (sha, 3, UNKNOWN)
    assert (settings.BLOB_DIR / sha[:2] / sha[2:4] / sha).read_bytes() == b"abc"
    assert store.open_blob(sha).read() == b"abc"
    assert store.read_bytes(sha) == (b"abc", UNKNOWN)


def test_the_same_content_is_stored_once_for_all_projects(project):
    other = make_project()
    blobs = {store.put_bytes(png(), project=p).pk for p in (project, other, project)}
    assert len(blobs) == 1
    assert ProjectBlob.objects.count() == 2


def test_a_stream_above_the_limit_leaves_nothing(project, settings):
    with pytest.raises(store.TooLargeError):
        store.put_stream([b"x" * 10] * 3, project=project, max_bytes=20)
    assert [p for p in settings.BLOB_DIR.rglob("*") if p.is_file()] == []
    assert not Blob.objects.exists()


def test_an_interrupted_stream_leaves_nothing(project, settings):
    def chunks():
        yield b"x"
        raise ConnectionError

    with pytest.raises(ConnectionError):
        store.put_stream(chunks(), project=project)
    assert [p for p in settings.BLOB_DIR.rglob("*") if p.is_file()] == []


@pytest.mark.parametrize("name", ["", "..", "../../etc/passwd", "A" * 64, "a" * 63])
def test_only_content_hashes_are_paths(name):
    with pytest.raises(ValueError):
        store.path_of(name)


# What is found out about media


def test_an_image_has_its_size_and_a_thumbnail(project):
    blob = store.put_bytes(png(800, 500), project=project)
    assert (blob.kind, blob.mime) == ("image", "image/png")
    assert (blob.width, blob.height, blob.problem) == (800, 500, "")
    with Image.open(store.thumb_path_of(blob.sha256)) as thumb:
        assert (thumb.format, thumb.size) == ("WEBP", (320, 200))


@pytest.mark.parametrize(
    ("form", "mode"), [("JPEG", "CMYK"), ("GIF", "P"), ("PNG", "LA"), ("WEBP", "RGBA")]
)
def test_every_colour_mode_gets_a_thumbnail(project, form, mode):
    buffer = io.BytesIO()
    Image.new(mode, (50, 20)).save(buffer, form)
    blob = store.put_bytes(buffer.getvalue(), project=project)
    assert blob.problem == ""
    assert store.thumb_path_of(blob.sha256).exists()


def png_that_declares(width, height):
    def chunk(name, data):
        body = name + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    header = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    row = zlib.compress(b"\0" * (1 + width // 8))
    parts = [chunk(b"IHDR", header), chunk(b"IDAT", row), chunk(b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


@pytest.mark.parametrize("side", [10_000, 60_000])
def test_a_bomb_is_not_unpacked(project, side):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        blob = store.put_bytes(png_that_declares(side, side), project=project)
    assert "too many pixels" in blob.problem
    assert not store.thumb_path_of(blob.sha256).exists()


def test_a_broken_image_says_so(project):
    whole = png(300, 300, "#123456")
    cut = store.put_bytes(whole[: len(whole) // 2], project=project)
    assert cut.problem == "The picture is incomplete."
    header = store.put_bytes(b"\x89PNG\r\n\x1a\nnothing", project=project)
    assert header.problem == "The picture cannot be read."
    assert not store.thumb_path_of(cut.sha256).exists()


def test_a_recording_has_length_and_waveform(project):
    blob = store.put_bytes(wav(2.0), project=project)
    assert (blob.kind, blob.mime, blob.duration) == ("audio", "audio/wav", 2.0)
    assert len(blob.waveform) == 60
    assert blob.waveform == sorted(blob.waveform)
    assert blob.waveform[-1] == 100


def riff(code, bits, data, *, length=None, data_length=None):
    frame = bits // 8
    form = struct.pack("<HHIIHH", code, 1, 8000, 8000 * frame, frame, bits)
    size = len(data) if data_length is None else data_length
    body = b"WAVEfmt " + struct.pack("<I", len(form)) + form
    body += b"data" + struct.pack("<I", size) + data
    return b"RIFF" + struct.pack("<I", length or len(body)) + body


@pytest.mark.parametrize(
    ("code", "bits", "levels"),
    [(1, 8, 60), (1, 16, 60), (1, 24, 60), (1, 32, 60), (3, 32, 60), (7, 8, 0)],
)
def test_kinds_of_wav(project, code, bits, levels):
    data = bytes(range(256)) * (bits // 8) * 8000
    data = data[: 8000 * bits // 8]
    blob = store.put_bytes(riff(code, bits, data), project=project)
    assert (blob.duration, blob.problem) == (1.0, "")
    assert len(blob.waveform) == levels


def test_a_lying_length_is_bounded_by_the_file(project):
    sound = riff(1, 16, b"\1\0" * 8000, length=2**32 - 1, data_length=2**32 - 1)
    assert store.put_bytes(sound, project=project).duration == 1.0


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (riff(1, 16, b""), "The recording holds no samples."),
        (riff(1, 16, b"\0" * 99)[:30], "The recording is incomplete or damaged."),
        (riff(1, 0, b"\0" * 99), "The header of the recording makes no sense."),
        (b"RIFF\0\0\0\0WAVE", "The recording is incomplete or damaged."),
    ],
)
def test_a_broken_recording_says_so(project, data, problem):
    assert store.put_bytes(data, project=project).problem == problem


def test_silence_has_a_flat_waveform(project):
    blob = store.put_bytes(riff(1, 16, b"\0" * 16000), project=project)
    assert blob.waveform == [0] * 60


@pytest.mark.parametrize(
    ("head", "mime"),
    [
        (b"RIFF\0\0\0\0WEBPVP8 ", "image/webp"),
        (b"RIFF\0\0\0\0WAVEfmt ", "audio/wav"),
        (b"RIFF\0\0\0\0AVI LIST", "video/x-msvideo"),
        (b"RIFF\0\0\0\0????", UNKNOWN),
        (b"ID3\x04\0\0", "audio/mpeg"),
        (b"\xff\xfb\x90\x64", "audio/mpeg"),
        (b"\xff\xff\xff\xff", UNKNOWN),
        (b"\0\0\0\x20ftypM4A \0\0", "audio/mp4"),
        (b"\0\0\0\x20ftypqt  \0\0", "video/quicktime"),
        (b"\0\0\0\x20ftypavif\0\0", "image/avif"),
        (b"\0\0\0\x20ftypmif1\0\0\0\0mif1heic", "image/heic"),
        (b"\0\0\0\x20ftypmif1\0\0\0\0mif1avif", "image/avif"),
        (b"\0\0\0\x20ftyp3gp4\0\0", "video/mp4"),
        (b"\0\0\0\x20ftyp????\0\0", UNKNOWN),
        (b"BM" + b"\0" * 12 + b"\x28\0\0\0", "image/bmp"),
        (b"BMW,Audi,Volvo,Mini", UNKNOWN),
        (b"II*\0\x08\0\0\0", "image/tiff"),
        (b"FORM\0\0\0\0AIFFCOMM", "audio/aiff"),
        (b"#!AMR\n", "audio/amr"),
        (b"MThd\0\0\0\x06\0\1", "audio/midi"),
        (b"\xff\xf1\x50\x80", "audio/aac"),
        (b"\x1aE\xdf\xa3\x01", "video/webm"),
        (b"\0\0\1\0\1\0\x10\x10\0\0", "image/vnd.microsoft.icon"),
        (b"OggS\0\x02", "audio/ogg"),
        (b"fLaC\0\0", "audio/flac"),
        (b"<svg xmlns=", "image/svg+xml"),
        (b"\xef\xbb\xbf <?xml version='1.0'?>\n<!-- > -->\n<svg:svg ", "image/svg+xml"),
        (b"<!DOCTYPE svg [<!ENTITY a 'b'>]><svg>", "image/svg+xml"),
        (b"<!---->" * 580 + b"<html>", UNKNOWN),
        (b"<svgs>,b", UNKNOWN),
        (b"<html>", UNKNOWN),
        (b"", UNKNOWN),
    ],
)
def test_types_come_from_the_bytes(head, mime):
    assert mime_of(head) == mime


def mp3(seconds, *, tag=b"", extra=b""):
    frame = b"\xff\xfb\x90\x64" + extra
    return tag + frame + b"\0" * (int(seconds * 16_000) - len(frame))


def flac(seconds):
    about = (44_100 << 44 | 1 << 41 | 15 << 36 | int(44_100 * seconds)).to_bytes(
        8, "big"
    )
    return b"fLaC\0\0\0\x22" + b"\0" * 10 + about + b"\0" * 16


def ogg(seconds, about, rate):
    def page(position, data):
        return b"OggS\0\0" + struct.pack("<q", position) + b"\0" * 12 + b"\1\1" + data

    return page(0, about) + b"\0" * 900 + page(int(seconds * rate), b"end")


VORBIS = b"\x01vorbis" + b"\0" * 4 + b"\1" + struct.pack("<I", 16_000)
TAG = b"ID3\x04\0\0\0\0\1\0" + b"\0" * 128
XING = b"\0" * 32 + b"Xing" + struct.pack(">II", 1, 383)


@pytest.mark.parametrize(
    ("data", "seconds"),
    [
        (mp3(3.0), 3.0),
        (mp3(2.0, tag=TAG), 2.0),
        (mp3(1.0, extra=XING), 10.005),
        (flac(4.5), 4.5),
        (ogg(3.0, VORBIS, 16_000), 3.0),
        (ogg(2.0, b"OpusHead", 48_000), 2.0),
        (ogg(2.0, b"Speex   ", 48_000), None),
        (b"fLaC" + b"\0" * 60, None),
        (b"ID3\x04" + b"\0" * 60, None),
        (b"OggS\0", None),
    ],
)
def test_compressed_sound_has_the_length_of_its_headers(project, data, seconds):
    blob = store.put_bytes(data, project=project)
    assert blob.kind == "audio"
    assert blob.duration == seconds


# Describing media for pages


def test_describe_takes_one_query_and_respects_the_project(
    project, django_assert_num_queries
):
    mine = store.put_bytes(png(), project=project)
    sound = store.put_bytes(wav(), project=project)
    theirs = store.put_bytes(png(colour="red"), project=make_project())
    refs = {
        b.sha256: {"$blob": b.sha256, "mime": b.mime, "size": b.size}
        for b in (mine, sound, theirs)
    }
    value = {"a": [refs[mine.sha256], {"b": refs[sound.sha256]}], "c": "text"}
    with django_assert_num_queries(1):
        found = describe(project, [value, refs[theirs.sha256]])
    assert set(found) == {mine.sha256, sound.sha256}
    assert found[mine.sha256]["width"] == 40
    assert found[sound.sha256]["duration"] == 0.5
    shown = with_media(value, found)
    assert shown["a"][1]["b"]["kind"] == "audio"
    assert shown["c"] == "text"


def test_describe_without_media_asks_nothing(project, django_assert_num_queries):
    with django_assert_num_queries(0):
        assert describe(project, ["text", 1, None, {"$blob": 3}]) == {}


def test_a_broken_image_is_a_download(project):
    blob = store.put_bytes(png_that_declares(60_000, 60_000), project=project)
    value = {"$blob": blob.sha256, "mime": blob.mime, "size": blob.size}
    described = describe(project, [value])[blob.sha256]
    assert described["kind"] == "other"
    assert "too many pixels" in described["problem"]
