"""Public bug reports about media and what hostile data does, repeated by their steps.

Each test has the number of its report in the name.
"""

from __future__ import annotations

import base64
import io
import random
import re
import resource
import socket

import pytest
from django.urls import reverse
from PIL import Image

from assay.data.media import as_blob
from blobs.models import Blob
from datasets.models import DatasetVersion
from tests.intake.reports import body, data, medium, notes, uri, values
from tests.support.making import rows

pytestmark = pytest.mark.django_db
State = DatasetVersion.State
BASE64 = re.compile(r"[A-Za-z0-9+/]{400}")


def large_png(side: int = 1000) -> bytes:
    """A picture of about 3 MB that does not compress."""
    pixels = random.Random(1).randbytes(side * side * 3)
    buffer = io.BytesIO()
    Image.frombytes("RGB", (side, side), pixels).save(buffer, "PNG")
    return buffer.getvalue()


def pages_of(person, version):
    """Every page that shows rows of `version`."""
    yield person.look(version)
    for tab in ("columns", "report"):
        yield person.look(version, tab=tab)
    for index in range(1, version.row_count + 1):
        yield person.look(version, "dataset_row", index)
        yield person.look(version, "dataset_row_edit", index)
    address = person.at("dataset_preview", version.ref)
    headers = {"HX-Request": "true"}
    yield person.client.get(address, headers=headers).content.decode()


@pytest.mark.parametrize(
    "name",
    [
        "mm_image_caption_foundry.jsonl",
        "mm_audio_expected_foundry.jsonl",
        "mm_chat_image_audio_foundry.jsonl",
    ],
)
def test_b114_no_page_holds_base64(person, name):
    version = person.bring_case(name)
    for page in pages_of(person, version):
        assert not BASE64.search(page)


def test_b114_three_megabytes_of_picture_keep_pages_small(person):
    picture = large_png()
    assert len(picture) > 2_900_000
    version = person.bring_rows({"image_url": uri("image/png", picture), "query": "?"})
    for page in pages_of(person, version):
        assert len(page) < 60_000


def test_b117_bare_base64_audio_gets_a_player(person):
    version = person.bring_case("mm_chat_image_audio_foundry.jsonl")
    page = person.look(version, "dataset_row", 2)
    assert "<audio" in page
    assert "data-audio" in page


def test_b118_audio_plays_and_seeks_in_the_page(person):
    version = person.bring_case("mm_audio_expected_foundry.jsonl")
    ref = as_blob(values(version)[0]["audio_data"])
    page = person.look(version, "dataset_row", 1)
    assert (
        f'<audio controls preload="none" src="{person.at("media", ref.sha256)}' in page
    )
    assert 'aria-label="Play audio_data of row 1' in page
    part = person.client.get(
        person.at("media", ref.sha256), headers={"Range": "bytes=100-199"}
    )
    assert part.status_code == 206
    assert part["Content-Range"] == f"bytes 100-199/{ref.size}"
    assert part["Content-Type"] == "audio/wav"
    assert len(body(part)) == 100


def test_b119_picture_parts_of_every_type_are_shown(person):
    link = uri("image/png", medium("one_pixel.png"))
    bare = base64.b64encode(medium("gradient_red_blue.png")).decode()
    parts = [
        {"type": "image", "image": link},
        {"type": "input_image", "image_url": link},
        {"type": "image_url", "image_url": {"url": link}},
        {
            "type": "image",
            "source": {"type": "base64", "media_type": "image/png", "data": bare},
        },
    ]
    version = person.bring_rows({"messages": [{"role": "user", "content": parts}]})
    page = person.look(version, "dataset_row", 1)
    assert page.count("data-lightbox") == len(parts)


def test_b120_a_picture_behind_a_link_stays_a_link_to_click(person):
    link = "https://media.example.org/path/image.png"
    version = person.bring_rows({"image_url": link, "query": "What is it?"})
    page = person.look(version, "dataset_row", 1)
    assert f'href="{link}"' in page
    assert 'rel="noopener noreferrer nofollow"' in page
    assert "<img" not in page.partition("<main")[2].partition("</main")[0]


PATHS = [
    "../../etc/hostname",
    "..%2f..%2fetc%2fhostname",
    "%252e%252e%252fetc%252fhostname",
    "....//etc/hostname",
    "/etc/hostname",
    "%2e%2e",
    "a?size=thumb/../../etc/hostname",
    "a%00.png",
    "a#b",
    "%ff",
    "C:%5cwindows%5cwin.ini",
]


@pytest.mark.parametrize("path", PATHS)
def test_b129_b130_no_path_leaves_the_store(person, path):
    version = person.bring_rows({"query": "q"})
    start = reverse("media", args=[person.project.slug, "x"])[:-1]
    dataset = person.at("dataset_version", version.dataset.slug, 1)
    for address in (start + path, f"{dataset}download/{path}"):
        response = person.client.get(address)
        assert response.status_code == 404, address


def test_b130_a_medium_with_an_odd_file_name_is_only_a_name(person):
    for name in ("../../a?b#c%2e%2e.jsonl", "..\\..\\x.jsonl", "%2e%2e%2fx.jsonl"):
        content = f'{{"query": "{len(name)} {name[-9:]}"}}\n'.encode()
        version = person.bring(content, name)
        assert "/" not in version.original_name
        assert "\\" not in version.original_name
        address = person.at("dataset_download", version.dataset.slug, version.number)
        assert body(person.client.get(address)) == content


def test_b131_hostile_text_stays_text_on_every_page(person):
    version = person.bring_case("qr_html_markdown_xss.csv")
    for page in pages_of(person, version):
        assert "<script>window" not in page
        assert "<img src=x" not in page
        assert "<h1>broken out" not in page
        assert 'href="javascript:' not in page
        assert 'href="data:' not in page
        assert "49" not in re.findall(r"\{\{ 7\*7 \}\}|\b49\b", page)
    address = person.at("dataset_version", version.dataset.slug, 1)
    policy = person.client.get(address)["Content-Security-Policy"]
    assert "script-src" in policy
    assert "unsafe-inline" not in policy.partition("script-src")[2].partition(";")[0]


def test_b135_an_svg_never_runs(person):
    svg = medium("evil_script.svg")
    version = person.bring_rows(
        {"image_url": uri("image/svg+xml", svg), "caption": "c"}
    )
    ref = as_blob(values(version)[0]["image_url"])
    page = person.look(version, "dataset_row", 1)
    assert "<svg xmlns" not in page
    address = person.at("media", ref.sha256)
    for wanted in ("document", "iframe", "object", "embed"):
        response = person.client.get(address, headers={"Sec-Fetch-Dest": wanted})
        assert response["Content-Disposition"].startswith("attachment")
        assert "sandbox" in response["Content-Security-Policy"]
        assert "script" not in response["Content-Security-Policy"]
        assert response["X-Content-Type-Options"] == "nosniff"


BOMBS = [
    "bomb_10000x10000.png",
    "bomb_50000x50000_1bit.png",
    "bomb_header_only_60000x60000.png",
]


@pytest.mark.parametrize("name", BOMBS)
def test_b137_a_picture_of_too_many_pixels_is_not_drawn(person, name):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    version = person.bring_rows({"image_url": uri("image/png", medium(name)), "n": 1})
    page = person.look(version, "dataset_row", 1)
    assert "pixels" in page
    ref = as_blob(values(version)[0]["image_url"])
    assert not Blob.objects.get(sha256=ref.sha256).is_shown
    thumb = person.client.get(person.at("media", ref.sha256), {"size": "thumb"})
    assert thumb.status_code == 404
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 60_000  # kB


def test_b139_one_bad_picture_hides_no_other_row(person):
    version = person.bring_case("mm_broken_media.jsonl")
    lines = data("mm_broken_media.jsonl").splitlines()
    assert version.row_count == len(lines)
    page = person.look(version)
    for words in ("not base64", "HTML in a data URI", "javascript URL"):
        assert words in page
    for index in range(1, version.row_count + 1):
        person.look(version, "dataset_row", index)


@pytest.fixture
def no_network(monkeypatch):
    """Every try to reach another machine, and none of them succeeds."""
    tries = []

    def connect(_socket, address):
        tries.append(address)
        raise OSError("no network in this test")

    def resolve(host, *_args, **_options):
        tries.append(host)
        raise socket.gaierror("no names in this test")

    monkeypatch.setattr(socket.socket, "connect", connect)
    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    return tries


@pytest.mark.parametrize("fields", [{}, {"fetch_links": "on"}])
def test_b140_no_link_of_a_file_reaches_a_private_place(person, no_network, fields):
    version = person.bring_case("mm_ssrf_urls.jsonl", **fields)
    assert version.row_count == 15
    for page in pages_of(person, version):
        assert "root:" not in page
    names = {"127.0.0.1.nip.example"} if fields else set()
    assert {name for name in no_network if isinstance(name, str)} <= names
    assert not [place for place in no_network if isinstance(place, tuple)]
    assert any("private network" in note for note in notes(version))


def test_b151_a_wav_is_no_picture(person):
    version = person.bring_case("mm_audio_broken.jsonl")
    bare = as_blob(values(version)[3]["audio_data"])
    assert bare.mime == "audio/wav"
    card = uri("image/webp", medium("invoice_card.webp"))
    other = person.bring_rows({"image_url": card}, name="webp.jsonl")
    assert as_blob(values(other)[0]["image_url"]).mime == "image/webp"


def test_b059_a_judge_gets_bare_base64_and_the_format(person, llm):
    sound = medium("beep_440hz_1s.wav")
    parts = [{"type": "text", "text": "What do you hear?"}]
    encoded = base64.b64encode(sound).decode()
    part = {"type": "input_audio", "input_audio": {"data": encoded, "format": "wav"}}
    talk = [{"role": "user", "content": [*parts, part]}]
    version = person.bring_rows({**rows(1)[0], "query": talk})
    person.evaluate(person.mapped(version, ["coherence"], llm))
    sent = str(llm.calls[0])
    assert f"'input_audio': {{'data': '{encoded}', 'format': 'wav'}}" in sent
    assert "data:audio" not in sent
