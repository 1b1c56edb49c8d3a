"""Media on their way to a model: the bytes unchanged, what it does not take said."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from assay.scoring.outcome import Outcome
from evaluations import runner
from evaluations.models import RunState
from targets.models import Completion
from tests.factories import make_version, png, wav
from tests.fakes.llm import error, verdict
from tests.support.making import make_deployment, make_spec, submit

MEDIA = Path(__file__).parents[1] / "data" / "cases" / "media"


def uri(mime, data):
    return f"data:{mime};base64,{base64.b64encode(data).decode()}"


def run_on(project, owner, llm, rows):
    judge = make_deployment(project, llm.url)
    spec = make_spec(make_version(project, rows), ["coherence"], judge=judge)
    run = submit(project, owner, spec)
    runner.work(run.pk)
    run.refresh_from_db()
    return run


def media_sent(call):
    """The media parts of a request, in the order of the messages."""
    return [
        part
        for message in call["messages"]
        if isinstance(message["content"], list)
        for part in message["content"]
        if part["type"] != "text"
    ]


def row(*media):
    parts = [{"type": "text", "text": "What is it?"}, *media]
    return {
        "query": [{"role": "user", "content": parts}],
        "response": "A picture and a tone.",
    }


def image(mime, data):
    return {"type": "image_url", "image_url": {"url": uri(mime, data)}}


def sound(data, form):
    encoded = base64.b64encode(data).decode()
    return {"type": "input_audio", "input_audio": {"data": encoded, "format": form}}


def test_an_image_and_a_recording_reach_the_judge_byte_by_byte(project, owner, llm):
    mp3 = (MEDIA / "speech_pt_reserva.mp3").read_bytes()
    media = [image("image/png", png()), sound(wav(), "wav"), sound(mp3, "wav")]
    run = run_on(project, owner, llm, [row(*media)])
    assert (run.state, run.passed) == (RunState.COMPLETED, 1)
    picture, clip, speech = media_sent(llm.calls[0])
    assert picture["image_url"]["url"] == uri("image/png", png())
    assert clip["input_audio"] == media[1]["input_audio"]
    assert speech["input_audio"]["format"] == "mp3"  # as its bytes are
    assert base64.b64decode(speech["input_audio"]["data"], validate=True) == mp3
    kept = Completion.objects.get().request
    assert base64.b64encode(png()).decode() not in str(kept)


REFUSALS = {
    "image/svg+xml": error(
        400,
        "You uploaded an unsupported image. Please make sure your image is of one of "
        "the following formats: ['png', 'jpeg', 'gif', 'webp'].",
        code="invalid_image_format",
    ),
    "ogg": error(
        400,
        "Invalid value: 'ogg'. Supported values are: 'wav' and 'mp3'.",
        param="messages[1].content[1].input_audio.format",
    ),
}


@pytest.mark.parametrize("kind", REFUSALS)
def test_a_type_that_the_api_does_not_take_is_an_error_of_its_row(
    project, owner, llm, kind
):
    def script(body, _n):
        return REFUSALS[kind] if kind in str(body) else verdict()

    llm.script = script
    svg = b"<svg xmlns='http://www.w3.org/2000/svg'/>"
    ogg = (MEDIA / "speech_en_fox.ogg").read_bytes()
    odd = image("image/svg+xml", svg) if "/" in kind else sound(ogg, "ogg")
    good = image("image/png", png()) if "/" in kind else sound(wav(), "wav")
    run = run_on(project, owner, llm, [row(odd), row(good)])
    assert run.state == RunState.COMPLETED_WITH_ERRORS
    first, second = run.items.order_by("index")
    assert (first.outcome, second.outcome) == (Outcome.ERROR, Outcome.PASS)
    said = first.results.get().reason
    words = REFUSALS[kind].body["error"]["message"]
    assert words[:40] in said
