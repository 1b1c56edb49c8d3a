"""What is recognised, what is shown of it, and what is said."""

from __future__ import annotations

import io
import struct

import pytest
from PIL import Image

from blobs import store
from blobs.queries import as_media, with_media
from tests.factories import png, wav

pytestmark = pytest.mark.django_db
OPEN = '<svg xmlns="http://www.w3.org/2000/svg"'


def put(project, data):
    return store.put_bytes(data, project=project)


def image(form, **options):
    buffer = io.BytesIO()
    Image.new("RGB", (50, 20)).save(buffer, form, **options)
    return buffer.getvalue()


def mp4(*handlers):
    boxes = b"".join(b"\0\0\0\x21hdlr\0\0\0\0\0\0\0\0" + h for h in handlers)
    return b"\0\0\0\x18ftypisom\0\0\0\0" + b"\0" * 40 + boxes


NOT_SHOWN = [
    (image("BMP"), "image/bmp", "an image of type BMP"),
    (image("TIFF"), "image/tiff", "an image of type TIFF"),
    (image("ICO"), "image/vnd.microsoft.icon", "an image of type ICO"),
    (image("JPEG2000"), "image/jp2", "an image of type JPEG 2000"),
    (b"\0\0\0\x20ftypavif" + bytes(40), "image/avif", "an image of type AVIF"),
    (b"\0\0\0\x20ftypheic" + bytes(40), "image/heic", "an image of type HEIC"),
    (b"FORM\0\0\0\x20AIFFCOMM", "audio/aiff", "a recording of type AIFF"),
    (b"#!AMR\n" + bytes(40), "audio/amr", "a recording of type AMR"),
    (b"MThd\0\0\0\x06\0\1\0\1\0\x60", "audio/midi", "a recording of type MIDI"),
    (b"\x1aE\xdf\xa3" + bytes(40), "video/webm", "a video of type WebM or Matroska"),
    (mp4(b"soun", b"vide"), "video/mp4", "a video of type MP4"),
]


@pytest.mark.parametrize(("data", "mime", "words"), NOT_SHOWN)
def test_what_pages_cannot_show_is_named_and_a_download(
    client_owner, project, data, mime, words
):
    blob = put(project, data)
    media = as_media(blob)
    assert (blob.mime, media["kind"]) == (mime, "other")
    assert media["problem"] == f"This is {words}, which pages cannot show."
    response = client_owner.get(f"/p/{project.slug}/media/{blob.sha256}")
    assert response["Content-Disposition"].startswith("attachment;")


def test_an_mp4_with_sound_alone_is_played(project):
    blob = put(project, mp4(b"soun"))
    assert (blob.mime, blob.kind, blob.is_shown) == ("audio/mp4", "audio", True)


@pytest.mark.parametrize(
    ("head", "problem"),
    [
        (b"\x01vorbis", ""),
        (b"OpusHead", ""),
        (b"\x7fFLAC", ""),
        (b"Speex   ", "The recording is Speex, which browsers do not play."),
        (
            b"PCM     ",
            "The recording is of an unknown encoding, which browsers do not play.",
        ),
    ],
)
def test_ogg_says_what_is_not_played(project, head, problem):
    blob = put(project, b"OggS\0\2" + bytes(22) + head + bytes(100))
    assert (blob.mime, blob.problem) == ("audio/ogg", problem)
    assert blob.is_shown == (not problem)


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (0x02, "Microsoft ADPCM"),
        (0x11, "IMA ADPCM"),
        (0x31, "GSM 6.10"),
        (0x55, "MP3 inside WAV"),
        (0x99, "of encoding 153"),
    ],
)
def test_a_wav_of_an_encoding_that_browsers_do_not_play_says_so(project, code, words):
    sound = bytearray(wav(0.5))
    struct.pack_into("<H", sound, 20, code)
    blob = put(project, bytes(sound))
    assert blob.problem == f"The recording is {words}, which browsers do not play."
    assert as_media(blob)["kind"] == "other"
    assert blob.duration == 0.5


def test_a_wav_that_is_cut_is_played_and_says_so(project):
    blob = put(project, wav(2.0)[: 44 + 8000])
    assert blob.problem == "The recording is incomplete: 0.50 of 2.00 seconds."
    assert as_media(blob)["kind"] == "audio"


# SVG


@pytest.mark.parametrize(
    ("attributes", "size"),
    [
        ('width="120" height="40"', (120, 40)),
        ('width="1in" height="72pt"', (96, 96)),
        ('viewBox="0 0 300 150"', (300, 150)),
        ('width="100" viewBox="0,0,300,150"', (100, 50)),
        ('height="100" viewBox="0 0 300 150"', (200, 100)),
        ('width="100%" height="50%"', (None, None)),
        ('width="1e9" height="9999999999"', (None, None)),
        ('viewBox="0 0 nan inf"', (None, None)),
        ('viewBox="0 0 0 10"', (None, None)),
        ("", (None, None)),
    ],
)
def test_the_size_of_an_svg(project, attributes, size):
    blob = put(project, f"{OPEN} {attributes}/>".encode())
    assert (blob.width, blob.height) == size
    assert (blob.kind, blob.problem, blob.is_shown) == ("image", "", True)


SCRIPT = "The SVG holds a script, which is not run."
FOREIGN = "The SVG holds parts of a web page, which may not be shown."
OUTSIDE = "The SVG refers to other files, which are not loaded."


@pytest.mark.parametrize(
    ("inside", "finding"),
    [
        ("<script>x()</script>", SCRIPT),
        ('<rect onclick="x()"/>', SCRIPT),
        ('<a href=" java&#10;script:x()"/>', SCRIPT),
        ('<x:script xmlns:x="http://www.w3.org/2000/svg"/>', SCRIPT),
        ("<foreignObject/>", FOREIGN),
        ('<image href="https://example.org/a.png"/>', OUTSIDE),
        ('<use href="other.svg#a"/>', OUTSIDE),
        ("<style>@import 'a.css';</style>", OUTSIDE),
        ('<rect fill="url(https://example.org/a#b)"/>', OUTSIDE),
        ('<rect style="fill: url( &quot;//example.org&quot; )"/>', OUTSIDE),
        ('<a href="https://example.org"/>', ""),
        ('<use href="#a"/><image href="data:image/png;base64,AA"/>', ""),
        ('<rect fill="url(#a)" style="mask: url(\'#b\')"/>', ""),
        ("<style>.a { fill: url(#b) }</style>", ""),
    ],
)
def test_what_an_svg_holds_is_said_and_kept(project, inside, finding):
    data = f"{OPEN}>{inside}</svg>".encode()
    blob = put(project, data)
    assert (blob.problem, blob.is_shown) == (finding, True)
    assert store.read_bytes(blob.sha256)[0] == data


LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
NOT_DRAWN = [
    (f'<!DOCTYPE svg [<!ENTITY l0 "ha">{LAUGHS}]>{OPEN}>&l9;</svg>', "entities"),
    (f'<!DOCTYPE svg [<!ENTITY a SYSTEM "file:///etc/passwd">]>{OPEN}>&a;</svg>',
     "entities"),
    (f'<!DOCTYPE svg [<!ENTITY % a SYSTEM "http://127.0.0.1/a"> %a;]>{OPEN}/>',
     "entities"),
    (f"{OPEN}><g></svg>", "incomplete or damaged"),
    (f"{OPEN}>{'<g>' * 300}{'</g>' * 300}</svg>", "incomplete or damaged"),
    ("<svg/>", "namespace is missing"),
    (f"{OPEN}><!--{'x' * 5_000_000}--></svg>", "larger than 4 MB"),
    (f'<?xml version="1.0" encoding="no-such"?>{OPEN}/>', "incomplete or damaged"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "words"), NOT_DRAWN)
def test_an_svg_that_is_not_shown_says_why(project, text, words):
    blob = put(project, text.encode())
    assert words in blob.problem
    assert as_media(blob)["kind"] == "other"


def test_an_svg_with_a_doctype_from_a_drawing_program_is_shown(project):
    text = (
        '<?xml version="1.0" encoding="utf-8"?>\n<!-- Generator -->\n'
        '<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" '
        '"http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">\n'
        f'{OPEN} width="10" height="10"/>'
    )
    blob = put(project, text.encode())
    assert (blob.problem, blob.is_shown, blob.width) == ("", True, 10)


def test_data_that_looks_like_a_reference_is_shown_as_data(project):
    value = {"a": {"$blob": "x/../y", "size": "?"}}
    assert with_media(value, {}) == {"a": {"blob": "x/../y", "size": "?"}}


def test_a_medium_from_a_link_keeps_the_link_beside_it(project):
    blob = put(project, png())
    value = {
        "$blob": blob.sha256,
        "mime": blob.mime,
        "size": blob.size,
        "url": "https://example.org/a.png",
    }
    shown = with_media(value, {blob.sha256: as_media(blob)})
    assert (shown["url"], shown["width"]) == (value["url"], 40)
