"""Images and audio on their way to a model."""

from __future__ import annotations

import base64

import pytest

from assay.data.chat import ChatMessage, ChatRequest, MediaPart, ModelError, TextPart
from assay.data.media import BlobRef
from blobs import store
from targets import mediacache
from tests.factories import png, wav
from tests.fakes.llm import FakeLLM, error, verdict

pytestmark = pytest.mark.django_db


def stored(project, data) -> BlobRef:
    blob = store.put_bytes(data, project=project)
    return BlobRef(blob.sha256, blob.mime, blob.size)


@pytest.fixture
def image(project) -> BlobRef:
    return stored(project, png())


@pytest.fixture
def audio(project) -> BlobRef:
    return stored(project, wav())


def showing(*refs: BlobRef) -> ChatRequest:
    parts = (TextPart("What is it?"), *(MediaPart(ref) for ref in refs))
    return ChatRequest((ChatMessage("user", parts),))


def parts_of(call) -> list:
    return call["messages"][0]["content"]


def test_an_image_is_a_data_uri_and_audio_is_input_audio(lab, image, audio):
    with FakeLLM() as fake:
        reply = lab.one(fake.url, showing(image, audio))
    text, picture, clip = parts_of(fake.calls[0])
    assert text == {"type": "text", "text": "What is it?"}
    begin, _, data = picture["image_url"]["url"].partition(",")
    assert begin == "data:image/png;base64"
    assert base64.b64decode(data) == png()
    assert clip["input_audio"]["format"] == "wav"
    assert base64.b64decode(clip["input_audio"]["data"]) == wav()
    assert f"blob:{image.sha256}" in str(reply.sent)
    assert data not in str(reply.sent)


def test_a_file_is_encoded_once_for_many_calls(lab, image, monkeypatch):
    encoded = []

    def count(sha, _real=mediacache._encode):
        encoded.append(sha)
        return _real(sha)

    monkeypatch.setattr(mediacache, "_encode", count)
    with FakeLLM() as fake:
        lab.ask(fake.url, *[showing(image) for _ in range(12)])
    assert encoded == [image.sha256]


def test_the_cache_drops_the_least_used():
    cache = mediacache.MediaCache(limit=10)
    for sha in "abc":
        cache._keep(sha, "xxxx")
    assert list(cache._texts) == ["b", "c"]


REFUSED_IMAGES = [
    error(400, "Invalid content type. image_url is only supported by certain models."),
    error(404, "No endpoints found that support image input"),
    error(400, "unknown variant `image_url`, expected `text` at line 1 column 90"),
    error(400, "meta/llama is not a multimodal model"),
    error(400, "At most 0 image(s) may be provided in one prompt."),
    error(422, "messages.0.content: Input should be a valid string"),
    error(400, "'messages.0.content' : content must be a string"),
    error(
        500,
        "image input is not supported - hint: if this is unexpected, you may need to "
        "provide the mmproj",
    ),
    error(500, "this model is missing data required for image input"),
]


@pytest.mark.parametrize("answer", REFUSED_IMAGES)
def test_refused_images_are_learned_and_named(lab, image, answer):
    def script(body, _n):
        return answer if "image_url" in str(body) else verdict()

    with FakeLLM(script) as fake:
        reply = lab.one(fake.url, showing(image))
    assert reply.text
    assert lab.learned == [{"images": False}]
    assert len(fake.calls) == 2
    assert "[image of type image/png, not readable by you]" in str(fake.calls[1])


REFUSED_AUDIO = [
    error(
        400, "Invalid value: 'input_audio'. Supported values are: 'text', 'image_url'."
    ),
    error(400, "Audio input is not supported by this model"),
    error(400, "content blocks are expected to be either text or image_url type"),
    error(500, "audio input is not supported - hint: you may need the mmproj"),
]


@pytest.mark.parametrize("answer", REFUSED_AUDIO)
def test_refused_audio_leaves_images_alone(lab, image, audio, answer):
    def script(body, _n):
        return answer if "input_audio" in str(body) else verdict()

    with FakeLLM(script) as fake:
        lab.one(fake.url, showing(audio))
        lab.learned.clear()
        lab.one(fake.url, showing(image, audio), capabilities={"audio": False})
    assert lab.learned == []
    assert "image_url" in str(fake.calls[-1])


BAD_FILES = [
    error(
        400,
        "You uploaded an unsupported image. Please make sure your image is of one of "
        "the following formats: ['png', 'jpeg', 'gif', 'webp'].",
        code="invalid_image_format",
    ),
    error(400, "Invalid base64 image_url. Unsupported data."),
    error(400, "Could not process image: unsupported colour profile"),
    error(400, "image too large, not supported: 20000 pixels"),
]


@pytest.mark.parametrize("answer", BAD_FILES)
def test_one_bad_picture_says_nothing_about_the_model(lab, image, answer):
    with FakeLLM(lambda _b, _n: answer) as fake, pytest.raises(ModelError) as caught:
        lab.one(fake.url, showing(image))
    assert lab.learned == []
    assert caught.value.code == "bad_request"


def test_text_alone_teaches_nothing_about_media(lab):
    with (
        FakeLLM(lambda _b, _n: error(400, "images are not supported")) as fake,
        pytest.raises(ModelError),
    ):
        lab.one(fake.url)
    assert lab.learned == []


def test_a_missing_file_is_an_error_of_its_row(lab):
    with FakeLLM() as fake, pytest.raises(ModelError) as caught:
        lab.one(fake.url, showing(BlobRef("0" * 64, "image/png", 3)))
    assert (caught.value.code, caught.value.stops_run) == ("media_missing", False)
