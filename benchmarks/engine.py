"""The run engine, everything stored, against a bare loop of the same calls.

Starts the simulator without delay, makes the same judge requests twice: once by the
openai client in a loop that keeps nothing, once as a run (SQLite, file data). Prints
calls per second, CPU seconds per 1,000 calls, and the ratio.
"""

from __future__ import annotations

import asyncio
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROWS = int(os.environ.get("ROWS", "600"))
EVALUATORS = ["coherence", "relevance", "similarity"]


def cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def measured(name: str, calls: int, work) -> tuple[float, float]:
    wall, before = time.perf_counter(), cpu()
    work()
    wall, used = time.perf_counter() - wall, cpu() - before
    per = used * 1000 / calls
    print(f"{name:12} {calls / wall:7.0f} calls/s   {per:6.2f} CPU-s per 1,000 calls")
    return wall, per


def main() -> None:
    root = Path(__file__).resolve().parent.parent
    with tempfile.TemporaryDirectory() as folder:
        from portal.supervisor import free_port, is_open

        port = free_port()
        os.environ["ASSAY_DATA_DIR"] = folder
        os.environ["ASSAY_SIMULATOR_URL"] = f"http://127.0.0.1:{port}/v1"
        os.environ["ASSAY_LOG_LEVEL"] = "WARNING"
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
        command = [sys.executable, "manage.py", "simulator", str(port)]
        simulator = subprocess.Popen([*command, "--delay-ms", "0"], cwd=root)
        try:
            while not is_open("127.0.0.1", port):
                time.sleep(0.1)
            compare()
        finally:
            simulator.terminate()
            simulator.wait()


def compare() -> None:
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    from evaluations import runner
    from targets.connections import ensure_simulator
    from targets.loop import stop_loop
    from tests.support.making import make_spec, make_version, rows, submit
    from workspace.signin import ensure_first_project

    project, owner = ensure_first_project()
    judge = ensure_simulator(project)
    spec = make_spec(make_version(project, rows(ROWS)), EVALUATORS, judge=judge)
    run = submit(project, owner, spec)
    calls = ROWS * len(EVALUATORS)
    bodies = requests_of(run)
    bare = measured("bare loop", calls, lambda: asyncio.run(bare_loop(bodies)))
    full = measured("engine", calls, lambda: runner.work(run.pk))
    run.refresh_from_db()
    assert run.done == ROWS, run.pause_reason
    print(
        f"engine / bare loop: wall {full[0] / bare[0]:.2f}, CPU {full[1] / bare[1]:.2f}"
    )
    runner.desk.close()
    stop_loop()


def requests_of(run) -> list[dict]:
    """The bodies of all judge calls of a run."""
    from assay.running.engine import fence_for
    from assay.running.mapping import inputs_of
    from assay.scoring.judge import build_request
    from evaluations.planning import load
    from targets import wire

    plan = load(run).plan
    bodies = []
    for row in run.dataset_version.rows.all():
        for criterion in plan.criteria:
            inputs = inputs_of(criterion.mapping, {"item": row.values})
            fence = fence_for(plan.fence_key, criterion.definition.id, inputs)
            request = build_request(criterion.definition, inputs, fence=fence)
            messages = [wire.message_body(m, wire.by_name) for m in request.messages]
            bodies.append({"model": "assay-simulator", "messages": messages})
    return bodies


async def bare_loop(bodies: list[dict], at_once: int = 16) -> None:
    from openai import AsyncOpenAI, DefaultAioHttpClient

    url = os.environ["ASSAY_SIMULATOR_URL"]
    gate = asyncio.Semaphore(at_once)
    async with AsyncOpenAI(
        base_url=url, api_key="none", http_client=DefaultAioHttpClient(), max_retries=0
    ) as client:

        async def one(body: dict) -> None:
            async with gate:
                await client.chat.completions.create(**body)

        await asyncio.gather(*(one(body) for body in bodies))


if __name__ == "__main__":
    main()
