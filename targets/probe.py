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

from django.db import transaction
from django.utils import timezone
from PIL import Image

from assay.data.chat import (
    ChatMessage,
    ChatRequest,
    MediaPart,
    ModelError,
    TextPart,
)
from assay.data.jsonx import JSONObject
from assay.data.media import BlobRef
from assay.scoring.answers import find_objects
from blobs import store
from targets import addresses
from targets.gateway import DeploymentConfig, DeploymentModel, Gateway
from targets.loop import model_loop
from targets.models import Connection, Deployment
from workspace.models import Project

SECONDS = 30.0
MAX_TOKENS = 200
ELSEWHERE = {"not_found", "model_unknown", "not_an_answer"}
"""Failures that another address may heal."""
REFUSALS = {"refused", "bad_request"}
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


@dataclass(frozen=True, slots=True)
class Findings:
    """What the calls of one test found."""

    checks: list[Check]
    capabilities: dict[str, Any]
    base_url: str


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
    """The short calls by capability. `text` comes first; without it none else is.

    It carries the parameters that evaluations use, so that the first test learns
    which of them the model refuses.
    """
    image = (TextPart("Which colour is this?"), MediaPart(sample_image(project)))
    audio = (TextPart("What do you hear?"), MediaPart(sample_audio(project)))
    asked = "Answer as JSON with reason and score. How good is the word OK, 1 to 5?"

    def short(*parts: TextPart | MediaPart, **more: Any) -> ChatRequest:
        message = ChatMessage("user", parts)
        return ChatRequest((message,), max_tokens=MAX_TOKENS, **more)

    return {
        "text": short(TextPart("Answer: OK"), temperature=0.0, seed=1),
        "json_schema": short(TextPart(asked), schema=ANSWER),
        "images": short(*image),
        "audio": short(*audio),
    }


async def _check(model: DeploymentModel, name: str, request: ChatRequest) -> Check:
    started = monotonic()

    def failed(code: str, error: str) -> Check:
        return Check(
            name, ok=False, milliseconds=_since(started), error=error, code=code
        )

    try:
        async with asyncio.timeout(SECONDS):
            reply = await model.complete(request)
    except TimeoutError:
        return failed(
            "timeout",
            f"The model did not answer within {SECONDS:.0f} seconds. A local server "
            "may still be loading it: test again in a minute.",
        )
    except ModelError as error:
        return failed(error.code, error.sentence)
    if name == "json_schema":
        form = reply.sent.get("response_format")
        kind = form.get("type") if isinstance(form, dict) else "text"
        if kind == "json_object":
            return failed("refused", "The model takes JSON mode only, no schema.")
        if kind == "text":
            return failed("refused", "Scores are read from the text of the answer.")
        if not find_objects(reply.text or "").objects:
            said = " ".join((reply.text or "").split())[:80]
            return failed(
                "unusable", f"It answered without JSON, so scores may fail: {said}"
            )
    if model.known.get(name) is False:
        return failed("refused", "")
    thinks = bool(reply.reasoning) or reply.finish_reason == "length"
    if not (reply.text or reply.refusal or "").strip() and not thinks:
        return failed("empty_answer", "The model answered nothing.")
    return Check(name, ok=True, milliseconds=reply.latency_ms)


def _since(started: float) -> int:
    return round((monotonic() - started) * 1000)


async def explore(
    gateway: Gateway, config: DeploymentConfig, asked: dict[str, ChatRequest]
) -> Findings:
    """Make the calls. What was refused before is asked for again."""
    config = replace(config, capabilities={})
    try:
        model = gateway.trial(config)
    except ModelError as error:
        check = Check(
            "text", ok=False, milliseconds=0, error=error.sentence, code=error.code
        )
        return Findings([check], {}, config.base_url)
    first = await _check(model, "text", asked["text"])
    if first.code in ELSEWHERE and config.kind == Connection.Kind.OPENAI:
        for url in addresses.alternatives(config.base_url):
            other = replace(config, base_url=url, connection_pk=-config.connection_pk)
            elsewhere = gateway.trial(other)
            check = await _check(elsewhere, "text", asked["text"])
            if check.ok:
                first, model, config = check, elsewhere, other
    if not first.ok:
        return Findings([first], {}, config.base_url)
    names = [name for name in asked if name != "text"]
    trials = [gateway.trial(replace(config, capabilities=model.known)) for _ in names]
    rest = await asyncio.gather(
        *(_check(t, n, asked[n]) for t, n in zip(trials, names, strict=True))
    )
    return Findings([first, *rest], _learned(trials, rest), config.base_url)


def _learned(trials: list[DeploymentModel], checks: list[Check]) -> dict[str, Any]:
    """What the calls taught together, and what each check says of its capability."""
    learned: dict[str, Any] = {}
    refused: set[str] = set()
    for trial in trials:
        refused |= set(trial.known.get("refused", ()))
        learned.update(trial.known)
    if refused:
        learned["refused"] = sorted(refused)
    for check in checks:
        if check.ok or check.code in REFUSALS:
            learned[check.name] = check.ok
    return learned


def probe(deployment: Deployment) -> dict[str, Any]:
    """Test a deployment and remember what that taught. Returns `{ok, checks, …}`."""
    loop = model_loop()
    config = DeploymentConfig.of(deployment)
    asked = requests(deployment.connection.project)
    found = loop.submit(explore(loop.gateway, config, asked)).result()
    first = found.checks[0]
    result = {
        "ok": first.ok,
        "checks": [asdict(check) for check in found.checks],
        "at": timezone.now().isoformat(),
        "milliseconds": first.milliseconds,
        "error": first.error,
        "code": first.code,
        "simulated": config.simulated,
    }
    _remember(deployment, config, found, result)
    return result


@transaction.atomic
def _remember(
    deployment: Deployment,
    config: DeploymentConfig,
    found: Findings,
    result: dict[str, Any],
) -> None:
    stored = Deployment.objects.select_for_update().filter(pk=deployment.pk).first()
    if stored is None or stored.model != config.model:
        return
    stored.last_test = result
    if found.checks[0].ok:
        # What this test could not find out stays as it was known.
        known = {k: stored.capabilities[k] for k in _unanswered(found, stored)}
        since = {"since": result["at"]}
        stored.capabilities = {**known, **found.capabilities, **since}
    stored.save(update_fields=["last_test", "capabilities", "updated_at"])
    if found.checks[0].ok and found.base_url != config.base_url:
        Connection.objects.filter(
            pk=config.connection_pk, base_url=config.base_url
        ).update(base_url=found.base_url, updated_at=timezone.now())


def _unanswered(found: Findings, stored: Deployment) -> list[str]:
    names = [c.name for c in found.checks if c.name not in found.capabilities]
    return [name for name in names if name in stored.capabilities]
