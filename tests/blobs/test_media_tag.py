"""What a page shows of a medium."""

from __future__ import annotations

import pytest
from django.template import Context, Template

from blobs import store
from blobs.queries import as_media
from tests.factories import png, wav

pytestmark = pytest.mark.django_db
SVG = b"<svg xmlns='http://www.w3.org/2000/svg' onload='x()'/>"


def drawn(project, data, size="", **more):
    value = {**as_media(store.put_bytes(data, project=project)), **more}
    template = Template("{% load ui %}{% media value size %}")
    shell = {"project": project}
    return template.render(Context({"shell": shell, "value": value, "size": size}))


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (png(200, 200)[:100], "The picture is incomplete."),
        (b"II*\0" + bytes(40), "This is an image of type TIFF, which pages cannot"),
        (b"#!AMR\n" + bytes(40), "This is a recording of type AMR, which pages cannot"),
        (b"no medium", "This is no image and no recording of a known type."),
        (b"", "The file is empty."),
    ],
)
@pytest.mark.parametrize("size", ["", "m", "l"])
def test_what_is_not_shown_is_a_download_with_its_sentence(
    project, data, problem, size
):
    html = drawn(project, data, size)
    assert html.count(problem) == 1
    assert " download>" in html
    assert "<img" not in html
    assert "<audio" not in html


def test_an_svg_with_a_script_is_an_image_with_a_sentence(project):
    html = drawn(project, SVG)
    assert "<img src=" in html
    assert "The SVG holds a script, which is not run." in html
    assert "<svg xmlns" not in html


def test_a_recording_that_is_cut_is_played_with_a_sentence(project):
    html = drawn(project, wav(2.0)[:8000])
    assert "<audio controls" in html
    assert "The recording is incomplete" in html
    assert "This browser cannot play the recording." in html


def test_the_link_of_a_loaded_medium_is_told_and_not_opened(project):
    link = "https://media.example.org/a.png?<b>"
    html = drawn(project, png(), "l", url=link)
    assert "https://media.example.org/a.png?&lt;b&gt;" in html
    assert f'src="{link}' not in html
    assert 'href="https://' not in html
