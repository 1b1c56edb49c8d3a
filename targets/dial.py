"""Making the short calls that people wait for. Runs in a worker."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from assay.data.chat import ModelError
from assay.running.spec import TargetSpec
from assay.running.targets import Generated, generate
from targets.gateway import DeploymentConfig
from targets.loop import model_loop
from targets.models import Deployment, TestCall
from targets.probe import probe
from workspace.leases import claim_job, finish_job
from workspace.models import JobState

log = logging.getLogger("targets.dial")

SECONDS = 75.0
"""Shorter than the lease of a job: nobody takes it over meanwhile."""


def run(job_id: int) -> None:
    """Make the call of a queued job. Safe to run twice."""
    call = claim_job(TestCall, job_id)
    if call is None:
        return
    if call.deployment is None:
        finish_job(call, JobState.FAILED, error="This model was deleted.")
        return
    try:
        if call.kind == TestCall.Kind.DEPLOYMENT:
            result = probe(call.deployment)
        else:
            result = try_row(call.deployment, call.request)
    except Exception:
        log.exception("test_call_failed ref=%s", call.ref)
        message = "Something failed on the server. Try again."
        finish_job(call, JobState.FAILED, error=message)
        return
    finish_job(call, JobState.DONE, result=result)


def try_row(deployment: Deployment, request: dict[str, Any]) -> dict[str, Any]:
    """Ask the target for one row: `{ok, output, latency_ms, usage}` or the error."""
    target = TargetSpec.model_validate(request["target"])
    config = DeploymentConfig.of(deployment)
    loop = model_loop()

    async def call() -> Generated:
        model = loop.gateway.trial(config, tries=2)
        async with asyncio.timeout(SECONDS):
            return await generate(model, target, request["item"])

    try:
        done = loop.submit(call()).result()
    except TimeoutError:
        sentence = f"The model did not answer within {SECONDS:.0f} seconds."
        return {"ok": False, "code": "timeout", "error": sentence}
    except ModelError as error:
        return {"ok": False, "code": error.code, "error": error.sentence}
    return {
        "ok": True,
        "output": done.output,
        "latency_ms": done.reply.latency_ms,
        "usage": done.reply.usage.as_json(),
        "simulated": done.reply.simulated,
    }
