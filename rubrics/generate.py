"""Generating a rubric with a model: asked for by a page, made by a worker."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
from collections.abc import Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from datetime import timedelta
from time import monotonic
from typing import Any, cast

from django.conf import settings
from django.utils import timezone
from django.utils.translation import gettext as _
from pydantic import BaseModel, ConfigDict, JsonValue

from assay.data.chat import ChatRequest, ModelError, Usage
from assay.data.jsonx import JSON
from assay.data.text import Sentence
from assay.running.plan import CallSample, Estimate, estimate
from assay.scoring.asking import Asked, Failure, Ledger, ask
from assay.scoring.rubric.generate import (
    Generated,
    Source,
    SourceKind,
    build_request,
    parse_generated,
    warnings_of,
)
from assay.scoring.rubric.spec import (
    RESIDUALS,
    Dimension,
    RubricCategory,
    RubricLevel,
)
from rubrics.documents import DimensionText
from rubrics.models import RubricJob
from rubrics.trying import BELL
from targets.config import DeploymentConfig
from targets.loop import model_loop
from targets.models import Deployment
from workspace.bells import ring
from workspace.leases import finish_job, renew
from workspace.models import JobState, Project, User

log = logging.getLogger("rubrics.generate")

PER_MINUTE = 20
LOOK_SECONDS = 0.5
SECONDS = 600.0
"""After this time a generation ends without a result."""
ANSWER_TOKENS = 900
MOST_SHOWN = 20_000
"""Characters of an unusable answer that are kept for the page."""


class TooManyError(Exception):
    """More generations in a minute than a project may ask for."""


class SourceText(BaseModel):
    """A `Source` as it is kept. Of a medium only the reference."""

    model_config = ConfigDict(frozen=True)

    kind: SourceKind
    name: str
    content: JsonValue

    def source(self) -> Source:
        return Source(self.kind, self.name, cast("JSON", self.content))


class Wish(BaseModel):
    """What is asked for, frozen in the job.

    `files` are the tokens with which the form holds on to files. `draft` and
    `evaluator` are refs of the rubric that is generated again, `earlier` are its
    dimensions, `scoring` is its scoring.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    name: str = ""
    title: str = ""
    category: RubricCategory = "quality"
    level: RubricLevel = "turn"
    scoring: str = "likert"
    prompt: str = ""
    files: tuple[str, ...] = ()
    sources: tuple[SourceText, ...] = ()
    draft: str = ""
    evaluator: str = ""
    earlier: tuple[DimensionText, ...] = ()

    @property
    def is_again(self) -> bool:
        return bool(self.draft or self.evaluator)

    def with_sources(self, sources: Sequence[Source]) -> Wish:
        kept = tuple(
            SourceText(kind=s.kind, name=s.name, content=cast("JsonValue", s.content))
            for s in sources
        )
        return self.model_copy(update={"sources": kept})

    def given(self) -> list[Source]:
        return [source.source() for source in self.sources]


def wish_of(job: RubricJob) -> Wish:
    return Wish.model_validate(job.request)


def request_of(wish: Wish, sources: Sequence[Source], *, fence: str) -> ChatRequest:
    """The call. Of the rubric so far the model is shown what it could keep: neither
    dimensions without an id, nor the one that is added to every rubric."""
    apart = ("", RESIDUALS[wish.category])
    earlier = [
        Dimension(id=d.id.strip(), description=d.description)
        for d in wish.earlier
        if d.id.strip() not in apart
    ]
    return build_request(sources, category=wish.category, earlier=earlier, fence=fence)


def expected(wish: Wish, sources: Sequence[Source], model: Deployment) -> Estimate:
    """What the call will take, roughly."""
    config = DeploymentConfig.of(model)
    sample = CallSample(
        "generate",
        [request_of(wish, sources, fence="0" * 16)],
        ANSWER_TOKENS,
        price_input=config.price_input,
        price_output=config.price_output,
    )
    return estimate(1, [sample])


def submit(project: Project, wish: Wish, *, model: Deployment, by: User) -> RubricJob:
    """Queue a generation and ring the doorbell. Raises `TooManyError`."""
    since = timezone.now() - timedelta(minutes=1)
    lately = RubricJob.objects.filter(project=project, created_at__gte=since)
    if lately.count() >= PER_MINUTE:
        message = _("There were %(count)d model jobs in one minute. Wait a minute.")
        raise TooManyError(message % {"count": PER_MINUTE})
    job = RubricJob.objects.create(
        project=project,
        kind=RubricJob.Kind.GENERATE,
        deployment=model,
        request=wish.model_dump(mode="json"),
        by=by,
    )
    ring(BELL, job.pk)
    return job


class _StoppedError(Exception):
    """The job ends without an answer."""

    def __init__(self, state: JobState, sentence: str = "") -> None:
        super().__init__(sentence)
        self.state = state
        self.sentence = sentence


def run(job: RubricJob) -> None:
    """Generate for `job`, which this process has claimed."""
    if job.deployment is None:
        finish_job(job, JobState.FAILED, error="This model was deleted.")
        return
    wish = wish_of(job)
    work = _ask(wish, DeploymentConfig.of(job.deployment))
    try:
        asked = _watch(job, model_loop().submit(work))
    except _StoppedError as stopped:
        finish_job(job, stopped.state, error=stopped.sentence)
        return
    usage = usage_of(asked.ledger)
    if isinstance(asked.found, Failure):
        sentence = _why(asked.found, asked.ledger)
        result = _unusable(asked.ledger)
        finish_job(job, JobState.FAILED, error=sentence, result=result, usage=usage)
        return
    result = result_of(asked.found, wish.given())
    finish_job(job, JobState.DONE, result=result, usage=usage)


async def _ask(wish: Wish, config: DeploymentConfig) -> Asked[Generated]:
    model = model_loop().gateway.trial(config, tries=3)
    request = request_of(wish, wish.given(), fence=secrets.token_hex(8))
    async with asyncio.timeout(SECONDS):
        return await ask(
            model, request, lambda r: parse_generated(r, category=wish.category)
        )


def _watch(job: RubricJob, future: Future[Asked[Generated]]) -> Asked[Generated]:
    """Wait for the answer, keep the lease, obey a cancel. Raises `_StoppedError`."""
    renewed = monotonic()
    while True:
        try:
            return future.result(timeout=LOOK_SECONDS)
        except FutureTimeout:
            # The same error tells that the answer, or only this look, took too long.
            if future.done() and isinstance(future.exception(), TimeoutError):
                late = "The model did not answer in ten minutes."
                raise _StoppedError(JobState.FAILED, late) from None
        except ModelError as error:
            raise _StoppedError(JobState.FAILED, error.sentence) from None
        except Exception:
            log.exception("generate_failed ref=%s", job.ref)
            sentence = "Something failed on the server. Try again."
            raise _StoppedError(JobState.FAILED, sentence) from None
        held = RubricJob.objects.filter(pk=job.pk, lease=job.lease)
        if monotonic() - renewed > settings.LEASE_SECONDS / 3:
            renewed = monotonic()
            renew(job)
        if not held.filter(cancel_requested_at=None).exists():
            future.cancel()
            with contextlib.suppress(Exception):
                future.exception(timeout=5)
            raise _StoppedError(JobState.CANCELED)


def _why(failure: Failure, ledger: Ledger) -> str:
    """What went wrong, in the words of this task."""
    if not ledger.faults:
        return failure.sentence
    last = ledger.faults[-1].sentence
    message = "The model gave no rubric in {tries} tries. {last}"
    return message.format(tries=len(ledger.faults), last=last)


def _unusable(ledger: Ledger) -> dict[str, Any]:
    answers = [reply.text or reply.refusal or "" for reply in ledger.replies]
    return {
        "faults": [fault.sentence for fault in ledger.faults],
        "raw_answers": [answer[:MOST_SHOWN] for answer in answers],
        "model": ledger.replies[-1].model if ledger.replies else "",
    }


def usage_of(ledger: Ledger) -> dict[str, Any]:
    used = sum((reply.usage for reply in ledger.replies), Usage())
    simulated = any(reply.simulated for reply in ledger.replies)
    return {**used.as_json(), "simulated": simulated}


def result_of(found: Generated, sources: Sequence[Source]) -> dict[str, Any]:
    """`{dimensions, notes: [{message, params}], warnings}`."""
    return {
        "dimensions": [d.model_dump(mode="json") for d in found.dimensions],
        "notes": [
            {"message": note.message, "params": dict(note.params)}
            for note in found.notes
        ],
        "warnings": [warning.as_json() for warning in warnings_of(sources)],
    }


def notes_of(job: RubricJob) -> list[Sentence]:
    """What was put right in the answer."""
    return [Sentence(n["message"], n["params"]) for n in job.result.get("notes", ())]
