"""Media in rows: every way in which they are written."""

from __future__ import annotations

import base64
import json
from urllib.parse import quote

import pytest

from assay.data.chat import MediaPart
from assay.data.media import BlobRef, as_blob
from assay.data.messages import normalise, render
from assay.scoring.inputs import input_parts
from blobs import store
from blobs.links import LinkProblem
from blobs.models import Blob
from datasets.media import links_in
from tests.datasets.mediadesk import (
    B64,
    PICTURE,
    SOUND,
    SOUND64,
    URI,
    Desk,
    bytes_of,
    notes,
    page_of,
    stored,
    text_of,
    uri,
)
from tests.factories import jsonl, make_project, make_version

pytestmark = pytest.mark.django_db


@pytest.fixture
def desk(project):
    return Desk(project)


# Data URIs


@pytest.mark.parametrize(
    "text",
    [
        URI,
        f"DATA:IMAGE/PNG;BASE64,{B64}",
        f"data:image/png;charset=utf-8;base64,{B64}",
        f'data:image/png;name="a,b;c.png";base64,{B64}',
        f"data: image/png ; base64 ,{B64}",
        f"\n  {URI}\n",
        f"data:image/png;base64,{quote(B64, safe='')}",
        f"data:image/png,{quote(PICTURE)}",
        f"data:image/png;base64,\r\n{base64.encodebytes(PICTURE).decode()}",
        f"data:image/png;base64,{B64[:20]}\t {B64[20:]}",
        f"data:image/png;base64,{B64.rstrip('=')}",
        f"data:image/png;base64,{B64.replace('+', '-').replace('/', '_')}",
        f"data:;base64,{B64}",
        f"data:application/octet-stream;base64,{B64}",
    ],
)
@pytest.mark.parametrize("column", ["image_url", "anything"])
def test_a_data_uri_is_understood_however_it_is_written(desk, text, column):
    values = desk.take(**{column: text, "deep": [{"x": [text]}]})
    assert bytes_of(values[column]) == PICTURE
    assert bytes_of(values["deep"][0]["x"][0]) == PICTURE
    assert desk.said == []


def test_svg_as_text_in_a_data_uri(desk):
    svg = "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'>é</svg>"
    for text in (svg, quote(svg)):
        values = desk.take(image_url=f"data:image/svg+xml;utf8,{text}")
        assert bytes_of(values["image_url"]) == svg.encode()
        assert values["image_url"]["mime"] == "image/svg+xml"
    assert desk.said == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("data:image/png;base64,@@@", "has a data URI that cannot be decoded"),
        ("data:image/png;base64,", "has a data URI that cannot be decoded"),
        ("data:image/png", "has a data URI that cannot be decoded"),
        ("data:text/html;base64,PHA+", "has a data URI of type text/html, which is no"),
        ("javascript:alert(1)", "is no web link and no medium"),
        ("file:///etc/passwd", "is no web link and no medium"),
        ("../../etc/passwd", "is no web link and no medium"),
        ("http://10.0.0.1/x.png", "The address is not allowed"),
        ("http://user:pw@example.org/x.png", "holds a user name or a password"),
    ],
)
def test_what_is_no_medium_stays_and_is_said(desk, text, words):
    assert desk.take(image_url=text) == {"image_url": text}
    assert len(desk.said) == 1
    assert desk.said[0].startswith("Line 7")
    assert words in desk.said[0]
    assert Blob.objects.count() == 0


@pytest.mark.parametrize(
    "text", ["data:image/png", "data: 3,5", "see data:x", "data:text/plain,hello"]
)
def test_other_columns_may_say_what_they_like(desk, text):
    assert desk.take(note=text) == {"note": text}
    assert desk.said == []


def test_a_type_that_differs_is_said(desk):
    values = desk.take(a=uri("image/png", SOUND), b=uri("audio/x-wav", SOUND))
    assert values["a"]["mime"] == "audio/wav"
    assert desk.said == [
        'Line 7: "a" is declared as image/png, but its bytes are audio/wav.'
    ]


# Bare base64 and the parts of several APIs


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"image_base64": B64}, PICTURE),
        ({"audio_data": SOUND64}, SOUND),
        ({"b64_json": B64}, PICTURE),
        ({"x": {"b64_json": B64}}, PICTURE),
        ({"x": {"type": "input_audio", "input_audio": {"data": SOUND64}}}, SOUND),
        (
            {
                "x": {
                    "type": "image",
                    "source": {
                        "type": "base64",
                        "media_type": "image/png",
                        "data": B64,
                    },
                }
            },
            PICTURE,
        ),
        ({"x": {"inline_data": {"mime_type": "audio/wav", "data": SOUND64}}}, SOUND),
        ({"x": {"inlineData": {"mimeType": "image/png", "data": B64}}}, PICTURE),
        ({"x": {"type": "image", "image": URI}}, PICTURE),
        ({"x": {"type": "image", "image": B64}}, PICTURE),
        ({"x": {"type": "input_image", "image_url": URI}}, PICTURE),
        ({"x": {"type": "image_url", "image_url": URI}}, PICTURE),
        ({"x": {"type": "image_url", "image_url": {"url": URI}}}, PICTURE),
        (
            {"x": {"type": "audio_url", "audio_url": {"url": uri("audio/wav", SOUND)}}},
            SOUND,
        ),
        ({"x": {"type": "file", "file": {"file_data": URI}}}, PICTURE),
        ({"images": [B64]}, PICTURE),
    ],
)
def test_every_way_gives_a_reference_and_is_read_as_a_part(desk, values, expected):
    taken = desk.take(**values)
    assert desk.said == []
    text = json.dumps(taken)
    assert "base64," not in text
    assert B64[:40] not in text
    assert SOUND64[:40] not in text
    part = taken.get("x")
    if part is None or "b64_json" in part:
        refs = [v[0] if isinstance(v, list) else v for v in (part or taken).values()]
    else:
        talk = [{"role": "user", "content": [part]}]
        refs = [
            p.ref.as_json() for p in render(normalise(talk)) if isinstance(p, MediaPart)
        ]
    assert [bytes_of(ref) for ref in refs] == [expected]


def test_an_anthropic_part_in_parts_alone_is_an_image(desk):
    source = {"type": "base64", "media_type": "image/png", "data": B64}
    parts = [{"type": "text", "text": "See"}, {"type": "image", "source": source}]
    read = input_parts(desk.take(x=parts)["x"])
    assert [type(part).__name__ for part in read] == ["TextPart", "MediaPart"]


@pytest.mark.parametrize(
    ("part", "words"),
    [
        ({"type": "unknown_part", "x": 1},
         '[unknown part: unknown_part] {"type":"unknown_part","x":1}'),
        ({"type": "image", "source": {"type": "url", "url": "https://e.org/a.png"}},
         "[image: https://e.org/a.png]"),
        ({"type": "image_file", "image_file": {"path": "logo.jpg"}},
         "[image: file logo.jpg was not uploaded]"),
        ({"type": "audio_url", "audio_url": {"url": "https://e.org/a.wav"}},
         "[audio: https://e.org/a.wav]"),
        ({"inline_data": {"mime_type": "audio/wav", "data": "AAAA"}},
         "[audio: not stored]"),
        ({"type": "input_file", "file_id": "f1"},
         '[unknown part: input_file] {"type":"input_file","file_id":"f1"}'),
        ({"text": "Only text"}, "Only text"),
    ],
)  # fmt: skip
def test_a_part_without_its_medium_is_shown_and_never_dropped(part, words):
    assert text_of(render(normalise([{"role": "user", "content": [part]}]))) == (
        f"User turn 1:\n  {words}"
    )


@pytest.mark.parametrize(
    "values",
    [
        {"note": B64},
        {"image_base64": "A" * 400},
        {"image_base64": B64[:30]},
        {"audio_data": base64.b64encode(bytes(range(256)) * 4).decode()},
        {"image_caption": "Photo, a picture of a picture, and much more text besides"},
        {"x": {"type": "text", "text": B64}},
    ],
)
def test_what_does_not_begin_like_a_medium_stays_text(desk, values):
    assert desk.take(**values) == values
    assert Blob.objects.count() == 0


NO_REFERENCES = [
    {"$blob": "x", "mime": "image/png", "size": 1},
    {"$blob": "../../secret", "mime": "image/png", "size": 1},
    {"$blob": "A" * 64, "mime": "image/png", "size": 1},
    {"$blob": "a" * 64, "mime": "image/png", "size": True},
    {"$blob": "a" * 64, "mime": "image/png", "size": 1.5},
    {"$blob": "a" * 64, "mime": "image/png", "size": -1},
    {"$blob": "a" * 64, "mime": None, "size": "x"},
    {"$blob": 3},
]


@pytest.mark.parametrize("value", NO_REFERENCES)
def test_what_only_looks_like_a_reference_is_data(client_owner, project, value):
    version = make_version(project, [{"a": value, "b": [value]}])
    assert stored(version) == [{"a": value, "b": [value]}]
    assert notes(version) == []
    assert page_of(client_owner, version).status_code == 200


def test_a_reference_keeps_what_stands_beside_it(desk, project):
    own = store.put_bytes(PICTURE, project=project)
    value = {
        "$blob": own.sha256,
        "mime": "x",
        "size": 1,
        "alt": "A",
        "url": "https://e.org/",
    }
    taken = desk.take(a=value)["a"]
    assert taken == {**value, "mime": "image/png", "size": own.size}
    assert as_blob(taken) == BlobRef(
        own.sha256, "image/png", own.size, "https://e.org/"
    )


def test_media_of_others_are_data_and_are_never_served(client_owner, project):
    secret = store.put_bytes(PICTURE, project=make_project())
    value = {"$blob": secret.sha256, "mime": "image/png", "size": secret.size}
    missing = {**value, "$blob": "0" * 64}
    version = make_version(project, [{"a": value}, {"a": missing}])
    first, second = stored(version)
    assert as_blob(first["a"]) is as_blob(second["a"]) is None
    one, two = notes(version)
    assert one.replace("Line 1", "") == two.replace("Line 2", "")
    assert (
        f"media/{secret.sha256}" not in page_of(client_owner, version).content.decode()
    )
    response = client_owner.get(f"/p/{project.slug}/media/{secret.sha256}")
    assert response.status_code == 404


# Links

LINK = "https://media.example.org/a.png"
PART = {"type": "image_url", "image_url": {"url": LINK}}
LINKED = [
    {"image_url": LINK},
    {"image_url": {"url": LINK}},
    {"images": [LINK]},
    {"x": [{"role": "user", "content": [PART]}]},
    {"x": [{"role": "user", "content": [{**PART, "image_url": LINK}]}]},
    {"x": {"type": "image", "source": {"type": "url", "url": LINK}}},
    {"x": {"type": "image", "image": LINK}},
    {"x": {"type": "input_audio", "input_audio": {"data": LINK, "format": "wav"}}},
    {"x": {"type": "audio_url", "audio_url": {"url": LINK}}},
    {"x": {"file_data": {"mime_type": "image/png", "file_uri": LINK}}},
]


def as_linked(blob):
    return {"$blob": blob.sha256, "mime": blob.mime, "size": blob.size, "url": LINK}


@pytest.mark.parametrize("values", LINKED)
def test_a_link_becomes_what_it_gives_with_the_link_beside_it(project, values):
    asked = []

    def pin(url):
        asked.append(url)
        return store.put_bytes(PICTURE, project=project)

    desk = Desk(project, pin)
    taken = desk.take(**values)
    assert links_in(values) == asked == [LINK]
    expected = json.dumps(values).replace(
        json.dumps(LINK), json.dumps(as_linked(Blob.objects.get()))
    )
    assert taken == json.loads(expected)
    assert desk.said == []
    assert desk.extractor.counts == {"image": 1}
    assert desk.take(**taken) == taken
    assert asked == [LINK]


@pytest.mark.parametrize(
    "values",
    [
        {"source": LINK},
        {"image_url": f"see {LINK}"},
        {"image_url": "ftp://media.example.org/a.png"},
        {"x": [{"role": "user", "content": [{"type": "text", "text": LINK}]}]},
        {"x": {"type": "text", "url": LINK}},
    ],
)
def test_other_links_are_not_asked_for(project, values):
    def pin(_url):
        raise AssertionError

    assert links_in(values) == []
    assert Desk(project, pin).take(**values) == values


def test_a_link_that_gives_nothing_stays_and_is_said(project):
    problem = LinkProblem("not_media", "The link gives no image and no recording.")
    desk = Desk(project, lambda _url: problem)
    assert desk.take(image_url=LINK) == {"image_url": LINK}
    assert desk.said == [
        'Line 7, "image_url": The link gives no image and no recording. '
        "It stays a link."
    ]
    assert Desk(project, lambda _url: None).take(image_url=LINK) == {"image_url": LINK}


def test_an_empty_extractor_leaves_plain_rows_alone(desk):
    values = json.loads(jsonl([{"a": 1, "b": [None, True, {"c": 1.5}]}]))
    assert desk.take(**values) == values
