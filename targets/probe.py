"""What a deployment can do, found out by short real calls."""

from __future__ import annotations

import asyncio
import io
import math
import struct
import wave
from dataclasses import asdict, dataclass, replace
from time import monotonic
from typing import Any

from PIL import Image

from assay.data.chat import (
    ChatMessage,
    ChatModel,
    ChatRequest,
    MediaPart,
    ModelError,
    TextPart,
)
from assay.data.jsonx import JSONObject
from assay.data.media import BlobRef
from blobs import store
from targets.gateway import DeploymentConfig
from targets.loop import model_loop
from targets.models import Deployment
from workspace.models import Project

ANSWER: JSONObject = {
    "type": "object",
    "properties": {"reason": {"type": "string"}, "score": {"type": "integer"}},
    "required": ["reason", "score"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class Check:
    """One short call: what it tried, whether it worked, how long it took."""

    name: str
    ok: bool
    milliseconds: int
    error: str = ""
    code: str = ""

    @classmethod
    def failed(cls, name: str, started: float, error: str, code: str) -> Check:
        milliseconds = _since(started)
        return cls(name, ok=False, milliseconds=milliseconds, error=error, code=code)


def sample_image(project: Project) -> BlobRef:
    """A red square, to ask whether the model sees images."""
    picture = io.BytesIO()
    Image.new("RGB", (64, 64), (200, 30, 30)).save(picture, "PNG")
    return _stored(project, picture.getvalue())


def sample_audio(project: Project) -> BlobRef:
    """Half a second of a 440 Hz tone, to ask whether the model hears audio."""
    clip = io.BytesIO()
    with wave.open(clip, "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(16000)
        tone = (
            struct.pack("<h", int(9000 * math.sin(2 * math.pi * 440 * n / 16000)))
            for n in range(8000)
        )
        out.writeframes(b"".join(tone))
    return _stored(project, clip.getvalue())


def _stored(project: Project, data: bytes) -> BlobRef:
    blob = store.put_bytes(data, project=project)
    return BlobRef(blob.sha256, blob.mime, blob.size)


def requests(project: Project) -> dict[str, ChatRequest]:
    """The short calls by capability. `text` comes first; without it none else is."""
    image = (TextPart("Which colour is this?"), MediaPart(sample_image(project)))
    audio = (TextPart("What do you hear?"), MediaPart(sample_audio(project)))
    short = ChatRequest((), max_tokens=200)
    asked = "Answer as JSON with reason and score. How good is the word OK, 1 to 5?"
    return {
        "text": replace(short, messages=(ChatMessage.text("user", "Answer: OK"),)),
        "json_schema": replace(
            short, messages=(ChatMessage.text("user", asked),), schema=ANSWER
        ),
        "images": replace(short, messages=(ChatMessage("user", image),)),
        "audio": replace(short, messages=(ChatMessage("user", audio),)),
    }


async def _check(model: ChatModel, name: str, request: ChatRequest) -> Check:
    started = monotonic()
    try:
        reply = await model.complete(request)
    except ModelError as error:
        return Check.failed(name, started, error.sentence, error.code)
    if name == "json_schema" and "response_format" not in reply.sent:
        sentence = "The model refuses answer formats; answers are read from text."
        return Check.failed(name, started, sentence, "refused")
    if name in ("images", "audio") and "not readable by you" in str(reply.sent):
        sentence = "The model refused this kind of media."
        return Check.failed(name, started, sentence, "refused")
    return Check(name, ok=True, milliseconds=_since(started))


def _since(started: float) -> int:
    return round((monotonic() - started) * 1000)


async def _checks(
    config: DeploymentConfig, asked: dict[str, ChatRequest]
) -> list[Check]:
    loop = model_loop()
    # Media that were refused once may be readable now: ask again.
    fresh = {k: v for k, v in config.capabilities.items() if k == "refused"}
    try:
        model = loop.gateway.model(replace(config, capabilities=fresh))
    except ModelError as error:
        return [Check.failed("text", monotonic(), error.sentence, error.code)]
    first = await _check(model, "text", asked["text"])
    if not first.ok:
        return [first]
    rest = [name for name in asked if name != "text"]
    others = await asyncio.gather(*(_check(model, n, asked[n]) for n in rest))
    return [first, *others]


def probe(deployment: Deployment) -> dict[str, Any]:
    """Make the calls and remember what they taught. Returns `{ok, checks}`."""
    project = deployment.connection.project
    config = DeploymentConfig.of(deployment)
    checks = model_loop().submit(_checks(config, requests(project))).result()
    result = {"ok": checks[0].ok, "checks": [asdict(check) for check in checks]}
    deployment.refresh_from_db()
    deployment.last_test = result
    if checks[0].ok:
        for check in checks[1:]:
            if check.ok or check.code in {"refused", "bad_request", "media_refused"}:
                deployment.capabilities[check.name] = check.ok
    deployment.save(update_fields=["last_test", "capabilities", "updated_at"])
    return result
