"""Links in a file: loaded once when a person asks for it and the server allows it."""

from __future__ import annotations

import threading
import time

import pytest

from datasets import ingest, uploads, writing
from datasets.models import DataJob, DatasetVersion, Row
from evaluations import runner
from evaluations.models import RunState
from tests.blobs.recorder import Recorder
from tests.datasets.mediadesk import bytes_of, notes, stored
from tests.datasets.test_pages import text_of, upload, version_page
from tests.factories import jsonl, png, run_import, wav
from tests.fakes.llm import FakeLLM
from tests.support.making import make_deployment, make_spec, submit
from workspace.leases import claim_job

pytestmark = pytest.mark.django_db
State = DatasetVersion.State
SOUND = wav(0.3)


@pytest.fixture(autouse=True)
def _open_to_loopback(settings):
    settings.LINK_NETWORKS = ["127.0.0.0/8"]


@pytest.fixture
def web():
    recorder = Recorder()
    serve = threading.Thread(target=recorder.server.serve_forever, args=(0.01,))
    serve.start()
    yield recorder
    recorder.server.shutdown()
    recorder.server.server_close()


@pytest.fixture
def media(web):
    """The address of a server with an image, a recording and what is neither."""
    web.pages |= {
        "/sound.wav": web.body(SOUND, "audio/wav"),
        "/page.png": web.body(b"<!doctype html><title>Sign in</title>", "image/png"),
        "/gone.png": web.body(b"", status=404),
        "/cut.png": web.body(png(300, 300)[:120], "image/png"),
        "/inside.png": web.to("http://10.1.2.3/secret.png"),
        "/huge.png": web.body(png() + bytes(70_000), "image/png"),
        "/moved.png": web.to("/there.png"),
    }
    return f"http://127.0.0.1:{web.port}"


def uploaded(client, project, rows, **fields):
    """A person uploads rows; the job waits."""
    upload(client, project, jsonl(rows), **fields)
    return DatasetVersion.objects.order_by("-pk")[0]


def fetched(client, project, rows):
    version = run_import(uploaded(client, project, rows, fetch_links="on"))
    assert version.state != State.FAILED, version.import_report
    return version


def paths(web):
    return [path for _address, path in web.asked]


def test_images_and_sounds_behind_links_are_stored_with_their_address(
    client_editor,
    project,
    web,
    media,
):
    parts = [
        {"type": "text", "text": "What is it?"},
        {"type": "image_url", "image_url": {"url": f"{media}/c.png"}},
        {"type": "input_audio", "input_audio": {"data": f"{media}/sound.wav"}},
    ]
    row = {
        "image_url": f"{media}/moved.png",
        "audio_data": f"{media}/sound.wav",
        "messages": [{"role": "user", "content": parts}],
        "response": f"See {media}/never.png",
        "website": f"{media}/never.png",
    }
    version = fetched(client_editor, project, [row])
    values = stored(version)[0]
    picture, sound = values["image_url"], values["audio_data"]
    assert (picture["mime"], picture["url"]) == ("image/png", f"{media}/moved.png")
    assert bytes_of(picture) == png(300, 300)
    assert (sound["mime"], sound["url"]) == ("audio/wav", f"{media}/sound.wav")
    assert bytes_of(sound) == SOUND
    _text, image_part, audio_part = values["messages"][0]["content"]
    assert bytes_of(image_part["image_url"]["url"]) == png(300, 300)
    assert bytes_of(audio_part["input_audio"]["data"]) == SOUND
    assert values["website"] == row["website"]
    assert values["response"] == row["response"]
    wanted = ["/moved.png", "/there.png", "/c.png", "/sound.wav"]
    assert sorted(paths(web)) == sorted(wanted)
    page = client_editor.get(version_page(version, "dataset_row", 1))
    text = page.content.decode()
    assert "data-lightbox" in text
    assert "<audio" in text
    assert f"{media}/moved.png" in text


BROKEN = {
    "/page.png": "The link gives no image and no recording. It stays a link.",
    "/gone.png": "The server answered with the status 404. It stays a link.",
    "/inside.png": "the link leads into a private network. It stays a link.",
    "/huge.png": "The file is larger than 49 KB. It stays a link.",
}


def test_what_cannot_be_loaded_stays_a_link_and_is_said(
    client_editor,
    project,
    web,
    media,
    settings,
):
    settings.MAX_MEDIUM_BYTES = 50_000
    rows = [{"query": f"q {path}", "image_url": media + path} for path in BROKEN]
    version = fetched(client_editor, project, rows)
    assert [row["image_url"] for row in stored(version)] == [media + p for p in BROKEN]
    for line, (sentence, note) in enumerate(
        zip(BROKEN.values(), notes(version), strict=True), start=1
    ):
        assert note.startswith(f'Line {line}, "image_url": ')
        assert note.endswith(sentence)
    assert version.state == State.REVIEW
    shown = text_of(client_editor.get(version_page(version)))
    assert "What the reader noticed" in shown
    assert "The server answered with the status 404." in shown


def test_a_file_that_is_cut_off_is_kept_and_named(client_editor, project, media):
    version = fetched(client_editor, project, [{"image_url": f"{media}/cut.png"}])
    assert stored(version)[0]["image_url"]["url"] == f"{media}/cut.png"
    assert version.import_report["notes"][0]["code"] == "broken_medium"


def test_nobody_is_asked_when_nobody_wants_it(client_editor, project, web, media):
    row = {"image_url": f"{media}/a.png", "audio_data": f"{media}/sound.wav"}
    version = run_import(uploaded(client_editor, project, [row]))
    assert stored(version) == [row]
    client_editor.get(version_page(version))
    client_editor.get(version_page(version, "dataset_row", 1))
    assert web.asked == []


def test_a_server_that_allows_no_private_network_asks_nobody_there(
    client_editor,
    project,
    web,
    media,
    settings,
):
    settings.LINK_NETWORKS = []
    version = fetched(client_editor, project, [{"image_url": f"{media}/a.png"}])
    assert stored(version) == [{"image_url": f"{media}/a.png"}]
    assert web.asked == []
    assert "leads into a private network. It stays a link." in notes(version)[0]


def test_the_same_link_is_asked_once(client_editor, project, web, media):
    rows = [{"query": f"q {n}", "image_url": f"{media}/a.png"} for n in range(60)]
    rows += [{"query": f"r {n}", "image_url": f"{media}/gone.png"} for n in range(60)]
    version = fetched(client_editor, project, rows)
    assert sorted(paths(web)) == ["/a.png", "/gone.png"]
    refs = [row["image_url"] for row in stored(version)]
    assert all(ref == refs[0] for ref in refs[:60])
    assert refs[60:] == [f"{media}/gone.png"] * 60


def test_a_ready_version_is_read_again_with_its_links(
    client_editor,
    project,
    web,
    media,
):
    first = run_import(uploaded(client_editor, project, [{"image_url": f"{media}/a"}]))
    assert uploads.keep(first)
    assert web.asked == []
    address = version_page(first, "dataset_import_again")
    client_editor.post(address, {"fetch_links": "on"})
    second = run_import(DatasetVersion.objects.order_by("-pk")[0])
    assert second.number == 2
    assert stored(second)[0]["image_url"]["url"] == f"{media}/a"
    assert stored(first) == [{"image_url": f"{media}/a"}]


# While links are loaded


@pytest.fixture
def slow_links(media, web, monkeypatch):
    """Rows whose links are loaded one batch after the other; `then` is called when the
    first is asked for."""
    called = []

    def answer(handler):
        if not called:
            called.append(True)
            slow.then()
        web.body(png())(handler)

    def slow():
        """What a test sets its `then` on."""

    slow.then = lambda: None
    slow.rows = [{"image_url": f"{media}/slow/{n}"} for n in range(40)]
    web.pages |= {f"/slow/{n}": answer for n in range(40)}
    monkeypatch.setattr(writing, "BEAT_SECONDS", 0)
    return slow


@pytest.mark.django_db(transaction=True)
def test_a_cancel_ends_the_loading(client_editor, project, web, slow_links):
    version = uploaded(client_editor, project, slow_links.rows, fetch_links="on")
    slow_links.then = lambda: uploads.cancel_import(version)
    run_import(version)
    assert version.state == State.FAILED
    assert version.import_report["is_canceled"]
    assert not Row.objects.filter(version=version).exists()
    assert len(web.asked) < 40
    assert "canceled" in text_of(client_editor.get(version_page(version)))


@pytest.mark.django_db(transaction=True)
def test_who_lost_the_lease_while_loading_writes_nothing(
    client_editor,
    project,
    web,
    slow_links,
):
    version = uploaded(client_editor, project, slow_links.rows, fetch_links="on")
    jobs = DataJob.objects.filter(version=version)
    slow_links.then = lambda: jobs.update(lease="another process")
    ingest.run(claim_job(DataJob, jobs.get().pk))
    version.refresh_from_db()
    assert version.state == State.IMPORTING
    assert jobs.get().lease == "another process"
    assert not Row.objects.filter(version=version).exists()
    assert len(web.asked) < 40


def test_a_version_deleted_while_its_links_load_is_no_failure(
    client_editor,
    project,
    web,
    slow_links,
    caplog,
):
    version = uploaded(client_editor, project, slow_links.rows, fetch_links="on")
    job = claim_job(DataJob, DataJob.objects.get(version=version).pk)
    started = time.monotonic()
    version.delete()
    ingest.run(job)
    assert time.monotonic() - started < 5
    assert web.asked == []
    assert "import_failed" not in caplog.text


# A run later


@pytest.mark.django_db(transaction=True)
def test_a_run_uses_what_was_stored_and_asks_nobody(
    client_editor,
    project,
    owner,
    web,
    media,
    monkeypatch,
):
    row = {"query": "What is it?", "response": "Red.", "image_url": f"{media}/a.png"}
    version = fetched(client_editor, project, [row])
    uploads.keep(version)
    web.asked.clear()
    monkeypatch.setattr("workspace.bells.current_app.send_task", lambda *a, **k: None)
    with FakeLLM() as llm:
        judge = make_deployment(project, llm.url)
        run = submit(project, owner, make_spec(version, ["coherence"], judge=judge))
        runner.work(run.pk)
        run.refresh_from_db()
        runner.desk.close()
    assert run.state == RunState.COMPLETED
    assert web.asked == []
    assert media not in str(llm.calls)
