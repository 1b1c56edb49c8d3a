from __future__ import annotations

import pytest
from django.urls import reverse

from blobs import store
from tests.factories import png, wav

pytestmark = pytest.mark.django_db


@pytest.fixture
def sound(project):
    return store.put_bytes(wav(0.5), project=project)


@pytest.fixture
def image(project):
    return store.put_bytes(png(640, 480), project=project)


def address(project, blob, query=""):
    return reverse("media", args=[project.slug, blob.sha256]) + query


def content(response):
    return b"".join(response.streaming_content)


def test_a_member_gets_the_bytes_with_strict_headers(client_viewer, project, image):
    response = client_viewer.get(address(project, image))
    assert response.status_code == 200
    assert content(response) == png(640, 480)
    assert response["Content-Type"] == "image/png"
    assert response["Content-Length"] == str(image.size)
    assert response["Cache-Control"] == "private, max-age=31536000, immutable"
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["Content-Security-Policy"] == "default-src 'none'; sandbox"
    assert "Content-Disposition" not in response


def test_a_stranger_sees_nothing(client_stranger, project, image):
    assert client_stranger.get(address(project, image)).status_code == 404


def test_without_a_session_there_is_only_the_sign_in(client, project, image):
    response = client.get(address(project, image))
    assert response.status_code == 302
    assert "sign-in" in response["Location"]


def test_the_media_of_another_project_do_not_exist(
    client_owner, project, stranger, image
):
    other = stranger.projects.get()
    theirs = store.put_bytes(png(colour="red"), project=other)
    assert client_owner.get(address(project, theirs)).status_code == 404


@pytest.mark.parametrize("name", ["..", "%2e%2e%2fsecret_key", "a" * 64, "x?y"])
def test_names_that_are_no_content_do_not_exist(client_owner, project, name):
    response = client_owner.get(f"/p/{project.slug}/media/{name}")
    assert response.status_code == 404


@pytest.mark.parametrize("data", [b"<html><script>x()</script>", b"raw sound", b""])
def test_what_is_no_medium_is_only_a_download(client_owner, project, data):
    blob = store.put_bytes(data, project=project)
    response = client_owner.get(address(project, blob))
    assert response["Content-Type"] == "application/octet-stream"
    assert response["Content-Disposition"].startswith("attachment;")


SVG = b"<svg xmlns='http://www.w3.org/2000/svg' onload='x()'/>"


@pytest.mark.parametrize("query", ["", "?size=thumb"])
def test_an_svg_is_served_for_image_elements_and_locked_down(
    client_owner, project, query
):
    blob = store.put_bytes(SVG, project=project)
    response = client_owner.get(
        address(project, blob, query), headers={"Sec-Fetch-Dest": "image"}
    )
    assert content(response) == SVG
    assert response["Content-Type"] == "image/svg+xml"
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["Content-Security-Policy"] == (
        "default-src 'none'; style-src 'unsafe-inline'; sandbox"
    )
    assert "Content-Disposition" not in response


@pytest.mark.parametrize("dest", ["document", "iframe", "object", "embed", "frame"])
def test_an_svg_is_never_a_page(client_owner, project, dest):
    blob = store.put_bytes(SVG, project=project)
    response = client_owner.get(
        address(project, blob), headers={"Sec-Fetch-Dest": dest}
    )
    assert response["Content-Disposition"].startswith("attachment;")
    assert "sandbox" in response["Content-Security-Policy"]


def test_a_thumbnail_is_small_and_has_its_own_tag(client_owner, project, image):
    response = client_owner.get(address(project, image, "?size=thumb"))
    assert response["Content-Type"] == "image/webp"
    assert content(response)[8:12] == b"WEBP"
    assert response["ETag"] == f'"{image.sha256}-thumb"'


def test_what_has_no_thumbnail_has_none(client_owner, project, sound):
    assert client_owner.get(address(project, sound, "?size=thumb")).status_code == 404


def test_a_known_tag_is_not_sent_again(client_owner, project, image):
    response = client_owner.get(
        address(project, image), headers={"If-None-Match": f'"{image.sha256}"'}
    )
    assert response.status_code == 304
    assert not response.content


@pytest.mark.parametrize(
    ("header", "first", "last"),
    [
        ("bytes=0-99", 0, 99),
        ("bytes=100-", 100, None),
        ("bytes=-50", -50, None),
        ("bytes=10-10", 10, 10),
        ("bytes=8000-999999", 8000, None),
        ("bytes=-999999999", 0, None),
    ],
)
def test_a_range_gives_a_part(client_owner, project, sound, header, first, last):
    data = wav(0.5)
    begin = first if first >= 0 else len(data) + first
    end = len(data) - 1 if last is None else last
    response = client_owner.get(address(project, sound), headers={"Range": header})
    whole = begin == 0 and end == len(data) - 1
    assert response.status_code == (200 if whole else 206)
    assert content(response) == data[begin : end + 1]
    assert response["Content-Length"] == str(end - begin + 1)
    if not whole:
        assert response["Content-Range"] == f"bytes {begin}-{end}/{len(data)}"


@pytest.mark.parametrize("header", ["bytes=999999-", "bytes=-0"])
def test_a_range_outside_is_refused(client_owner, project, sound, header):
    response = client_owner.get(address(project, sound), headers={"Range": header})
    assert response.status_code == 416
    assert response["Content-Range"] == f"bytes */{sound.size}"


@pytest.mark.parametrize(
    "header",
    ["bytes=0-1,5-9", "lines=1-2", "bytes=", "bytes=9-1", "bytes=a-b"]
    + [f"bytes=0-{'9' * 5000}", f"bytes=-{'9' * 5000}", f"bytes={'9' * 5000}-"],
)
def test_an_odd_range_gives_everything(client_owner, project, sound, header):
    response = client_owner.get(address(project, sound), headers={"Range": header})
    assert response.status_code == 200
    assert response["Content-Length"] == str(sound.size)


def test_a_range_of_other_bytes_gives_everything(client_owner, project, sound):
    headers = {"Range": "bytes=0-9", "If-Range": '"something else"'}
    assert client_owner.get(address(project, sound), headers=headers).status_code == 200
    headers["If-Range"] = f'"{sound.sha256}"'
    assert client_owner.get(address(project, sound), headers=headers).status_code == 206


def test_head_tells_the_size_without_the_bytes(client_owner, project, sound):
    response = client_owner.head(address(project, sound))
    assert response.status_code == 200
    assert response["Content-Length"] == str(sound.size)
    assert response["Accept-Ranges"] == "bytes"
    assert response.content == b""


def test_media_are_never_compressed(client_owner, project, sound):
    response = client_owner.get(
        address(project, sound), headers={"Accept-Encoding": "gzip"}
    )
    assert "Content-Encoding" not in response
    assert content(response) == wav(0.5)


def test_only_reading_is_allowed(client_owner, project, sound):
    assert client_owner.post(address(project, sound)).status_code == 405


def test_a_file_that_is_gone_is_a_404(client_owner, project, sound):
    store.path_of(sound.sha256).unlink()
    assert client_owner.get(address(project, sound)).status_code == 404


def test_it_takes_four_queries(client_owner, project, sound, django_assert_num_queries):
    with django_assert_num_queries(4):  # session, person, membership, blob
        client_owner.get(address(project, sound))
