"""Every file of the collected media through the store and the view."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from django.urls import reverse

from blobs import store
from blobs.queries import as_media

pytestmark = pytest.mark.django_db
FOLDER = Path(__file__).parents[1] / "data" / "cases" / "media"
OTHER = "application/octet-stream"
BOMB = "The picture has too many pixels"
NO_TYPE = "This is no image and no recording of a known type."


@dataclass
class Case:
    """What a file is taken for. `size` is width and height or the seconds."""

    mime: str
    size: tuple[int, int] | float | None = None
    problem: str = ""
    is_shown: bool = True


PNG, JPEG, WAV = "image/png", "image/jpeg", "audio/wav"
SCRIPT = (
    "The SVG holds a script, which is not run. "
    "The SVG holds parts of a web page, which may not be shown."
)
CUT_SOUND = "The recording is incomplete: 0.01 of 1.00 seconds."

CASES = {
    "gradient_red_blue.png": Case(PNG, (256, 64)),
    "three_shapes.jpg": Case(JPEG, (320, 200)),
    "invoice_card.webp": Case("image/webp", (300, 120)),
    "bar_chart.svg": Case("image/svg+xml", (200, 120)),
    "cmyk.jpg": Case(JPEG, (60, 40)),
    "one_pixel.png": Case(PNG, (1, 1)),
    "gráfico degradê 渐变 #1.png": Case(PNG, (256, 64)),
    "beep_440hz_1s.wav": Case(WAV, 1.0),
    "stereo_left440_right880_1s.wav": Case(WAV, 1.0),
    "speech_en_fox.wav": Case(WAV, 3.287),
    "speech_pt_reserva.mp3": Case("audio/mpeg", 4.86),
    "speech_en_fox.ogg": Case("audio/ogg", 3.287),
    "sweep_100_4000hz_24bit.wav": Case(WAV, 0.6),
    "float32_beep.wav": Case(WAV, 0.4),
    "streaming_header_ffffffff.wav": Case(WAV, 1.0),
    "broken_truncated.png": Case(PNG, (200, 200), "The picture is incomplete.", False),
    "broken_truncated.jpg": Case(JPEG, (320, 200), "The picture is incomplete.", False),
    "broken_html_named.png": Case(OTHER, None, NO_TYPE, False),
    "broken_zero_bytes.png": Case(OTHER, None, "The file is empty.", False),
    "broken_truncated.wav": Case(WAV, 0.008, CUT_SOUND),
    "broken_mp3_named.wav": Case("audio/mpeg", 4.86),
    "broken_headerless_pcm.wav": Case(OTHER, None, NO_TYPE, False),
    "bomb_10000x10000.png": Case(PNG, (10_000, 10_000), f"{BOMB}: 10,000", False),
    "bomb_50000x50000_1bit.png": Case(PNG, None, f"{BOMB}.", False),
    "bomb_header_only_60000x60000.png": Case(PNG, None, f"{BOMB}.", False),
    "evil_script.svg": Case("image/svg+xml", (120, 40), SCRIPT),
    "evil_polyglot_gif.gif": Case("image/gif", (10799, 1)),
}


def test_every_file_has_its_case():
    names = {path.name for path in FOLDER.iterdir()} - {"SOURCES.md"}
    assert names == CASES.keys()


@pytest.mark.parametrize("name", CASES)
def test_each_file_gets_its_handling(client_owner, project, name):
    case, data = CASES[name], (FOLDER / name).read_bytes()
    blob = store.put_bytes(data, project=project)
    media = as_media(blob)
    assert media["mime"] == case.mime
    assert media["problem"].startswith(case.problem)
    assert bool(media["problem"]) == bool(case.problem)
    family = case.mime.partition("/")[0]
    assert media["kind"] == (family if case.is_shown else "other")
    if isinstance(case.size, float):
        assert media["duration"] == pytest.approx(case.size, abs=0.06)
    elif case.size is not None:
        assert (media["width"], media["height"]) == case.size
    else:
        assert media["width"] is media["duration"] is None
    _assert_is_served(client_owner, project, blob, data)


def _assert_is_served(client, project, blob, data):
    """The bytes unchanged, under the sniffed type, with headers that hold."""
    address = reverse("media", args=[project.slug, blob.sha256])
    response = client.get(address, headers={"Sec-Fetch-Dest": "image"})
    assert b"".join(response.streaming_content) == data
    assert response["Content-Type"] == blob.mime
    assert response["X-Content-Type-Options"] == "nosniff"
    assert "default-src 'none'" in response["Content-Security-Policy"]
    assert "sandbox" in response["Content-Security-Policy"]
    is_download = "Content-Disposition" in response
    assert is_download == (blob.mime == OTHER)
    thumb = client.get(f"{address}?size=thumb")
    has_thumb = blob.kind == "image" and blob.is_shown
    assert thumb.status_code == (200 if has_thumb else 404)


MEASURED = """
import resource, sys
from pathlib import Path
from PIL import Image
from blobs.inspect import examine
from blobs.sniff import mime_of
Image.init()
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
before = peak()
for name in sys.argv[1:]:
    path = Path(name)
    facts = examine(path, mime_of(path.read_bytes()[:4096]), path.with_suffix(".thumb"))
    assert not facts.is_shown, (name, facts)
print(peak() - before)
"""


def test_bombs_take_no_memory(tmp_path):
    names = [name for name in CASES if name.startswith("bomb")]
    for name in names:
        shutil.copy(FOLDER / name, tmp_path)
    (tmp_path / "bomb.webp").write_bytes(webp_that_declares(16_384, 16_384))
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            MEASURED,
            *(tmp_path / n for n in (*names, "bomb.webp")),
        ],
        capture_output=True,
        text=True,
        check=False,
        cwd=FOLDER.parents[3],
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 16  # megabytes


def webp_that_declares(width, height):
    sides = (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    body = b"WEBPVP8X\x0a\0\0\0\0\0\0\0" + sides
    return b"RIFF" + len(body).to_bytes(4, "little") + body
