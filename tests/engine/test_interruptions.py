"""What ends a worker, and that nothing is lost or judged twice by it."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections import Counter
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from assay.running.engine import CriterionDone, RowDone
from assay.scoring.outcome import Outcome, ResultValue
from evaluations import lifecycle, runner, sweep
from evaluations.claims import claim_chunk
from evaluations.models import Chunk, Item, Result, Run, RunState
from evaluations.models.run import ChunkState
from evaluations.planning import load, plan_chunks
from evaluations.record import ChunkDone, write_events
from targets.loop import model_loop
from tests.engine.test_runs import assert_adds_up
from tests.fakes.llm import Answer, error, verdict
from tests.support.making import (
    make_deployment,
    make_spec,
    make_version,
    rows,
    submit,
)


def _slow(_body, _n):
    return Answer(json.dumps({"reason": "ok", "score": 4}), delay=0.1)


def _claimed(run):
    """The first chunk of a run, held by a process that will not come back."""
    started = lifecycle.start(run.pk)
    plan_chunks(started)
    loaded = load(started)
    return loaded, claim_chunk(loaded)


def _fake_results(loaded, task):
    criterion = loaded.plan.criteria[0]
    results = tuple(
        ResultValue(metric.key, Outcome.PASS, score=4.0)
        for metric in criterion.definition.metrics
    )
    return CriterionDone(task, criterion.key, results)


def test_cancel_keeps_finished_rows_and_abandons_calls(project, owner, llm):
    llm.script = _slow
    judge = make_deployment(project, llm.url)
    spec = make_spec(make_version(project, rows(400)), ["fluency"], judge=judge)
    run = submit(project, owner, spec)
    worker = threading.Thread(target=_in_thread, args=[run.pk])
    worker.start()
    time.sleep(1.5)
    assert lifecycle.cancel(run)
    worker.join(timeout=5)
    assert not worker.is_alive()
    assert_adds_up(run)
    assert run.state == RunState.CANCELED
    assert 0 < run.done < 400
    calls = len(llm.calls)
    time.sleep(0.5)
    assert len(llm.calls) == calls
    left = [t for t in asyncio.all_tasks(model_loop().loop) if not t.done()]
    assert left == []


def _in_thread(run_id):
    try:
        runner.work(run_id)
    finally:
        connection.close()


def test_a_stop_gives_chunks_back_and_another_worker_finishes(project, owner, llm):
    llm.script = _slow
    judge = make_deployment(project, llm.url)
    spec = make_spec(make_version(project, rows(150)), ["fluency"], judge=judge)
    run = submit(project, owner, spec)
    worker = threading.Thread(target=_in_thread, args=[run.pk])
    worker.start()
    time.sleep(1.0)
    runner.stop()
    worker.join(timeout=8)
    assert not worker.is_alive()
    run.refresh_from_db()
    assert run.state == RunState.RUNNING
    assert not run.chunks.filter(state=ChunkState.LEASED).exists()
    runner.desk.stopping.clear()
    llm.script = lambda _body, _n: verdict(4)
    runner.work(run.pk)
    assert_adds_up(run)
    assert run.passed == 150
    assert Result.objects.filter(run=run).count() == 150


def test_an_expired_lease_is_taken_over_and_done_rows_are_not_done_again(
    project, owner, llm
):
    judge = make_deployment(project, llm.url)
    spec = make_spec(make_version(project, rows(20)), ["fluency"], judge=judge)
    run = submit(project, owner, spec)
    loaded, held = _claimed(run)
    for task in held.tasks[:7]:
        write_events(held, [_fake_results(loaded, task), RowDone(task, Outcome.PASS)])
    half = held.tasks[7]
    write_events(held, [_fake_results(loaded, half)])
    runner.work(run.pk)
    run.refresh_from_db()
    assert run.done == 7
    Chunk.objects.filter(run=run).update(
        lease_until=timezone.now() - timedelta(seconds=1)
    )
    sweep.sweep()
    runner.work(run.pk)
    assert_adds_up(run)
    assert run.done == 20
    assert len(llm.calls) == 12


def test_a_writer_that_lost_its_lease_writes_nothing(project, owner, llm):
    judge = make_deployment(project, llm.url)
    spec = make_spec(make_version(project, rows(3)), ["fluency"], judge=judge)
    run = submit(project, owner, spec)
    loaded, held = _claimed(run)
    Chunk.objects.filter(pk=held.chunk.pk).update(lease="somebody else")
    task = held.tasks[0]
    write_events(
        held, [_fake_results(loaded, task), RowDone(task, Outcome.PASS), ChunkDone()]
    )
    assert held.is_lost
    assert Item.objects.count() == Result.objects.count() == 0
    run.refresh_from_db()
    assert run.done == 0
    assert Chunk.objects.get().state == ChunkState.LEASED


def test_a_chunk_that_ends_workers_is_split_and_its_row_given_up(project, owner, llm):
    judge = make_deployment(project, llm.url)
    spec = make_spec(make_version(project, rows(4)), ["fluency"], judge=judge)
    run = submit(project, owner, spec)
    _loaded, _held = _claimed(run)
    past = timezone.now() - timedelta(seconds=1)
    Chunk.objects.update(attempts=3, lease_until=past)
    sweep.expire_chunks()
    assert Counter(Chunk.objects.values_list("first", "last")) == Counter(
        [(0, 0), (1, 1), (2, 2), (3, 3)]
    )
    Chunk.objects.filter(first=2).update(
        attempts=3, state=ChunkState.LEASED, lease="dead", lease_until=past
    )
    sweep.expire_chunks()
    runner.work(run.pk)
    assert_adds_up(run)
    assert run.state == RunState.COMPLETED_WITH_ERRORS
    lost = Result.objects.get(outcome=Outcome.ERROR)
    assert (lost.item.index, lost.error_code) == (3, "worker_lost")


def test_retry_does_only_what_errored_and_keeps_what_went_wrong(project, owner, llm):
    def script(body, _n):
        text = json.dumps(body["messages"])
        if "number 2 " in text or "number 3 " in text:
            return error(400, "No.")
        return verdict(2)

    llm.script = script
    judge = make_deployment(project, llm.url)
    spec = make_spec(
        make_version(project, rows(5)), ["fluency", "f1_score"], judge=judge
    )
    run = submit(project, owner, spec)
    runner.work(run.pk)
    assert_adds_up(run)
    assert (run.failed, run.passed) == (3, 2)
    assert Result.objects.filter(outcome=Outcome.ERROR).count() == 2
    calls = len(llm.calls)
    llm.script = lambda _body, _n: verdict(5)
    assert lifecycle.retry_errors(run) == 2
    runner.work(run.pk)
    assert_adds_up(run)
    assert len(llm.calls) == calls + 2
    assert run.state == RunState.COMPLETED
    assert (run.failed, run.passed) == (3, 2)
    history = json.loads(Item.objects.get(index=2).history)
    assert history[0]["code"] == "bad_request"


def test_pause_and_resume(project, owner, llm):
    llm.script = _slow
    judge = make_deployment(project, llm.url)
    spec = make_spec(make_version(project, rows(100)), ["fluency"], judge=judge)
    run = submit(project, owner, spec)
    worker = threading.Thread(target=_in_thread, args=[run.pk])
    worker.start()
    time.sleep(0.8)
    assert lifecycle.pause(run.pk, "Paused by a person.")
    worker.join(timeout=5)
    assert not worker.is_alive()
    run.refresh_from_db()
    assert run.state == RunState.PAUSED
    assert not run.chunks.filter(state=ChunkState.LEASED).exists()
    llm.script = lambda _body, _n: verdict(4)
    lifecycle.resume(Run.objects.get(pk=run.pk))
    runner.work(run.pk)
    assert_adds_up(run)
    assert run.done == 100


def test_a_fault_of_ours_on_one_row_becomes_an_error_and_the_run_ends(
    project, owner, llm, monkeypatch
):
    from assay.running import engine

    real = engine.inputs_of

    def faulty(mapping, scope):
        if "number 2 " in str(scope["item"].get("response")):
            raise RuntimeError("a fault of ours")
        return real(mapping, scope)

    monkeypatch.setattr(engine, "inputs_of", faulty)
    judge = make_deployment(project, llm.url)
    spec = make_spec(make_version(project, rows(6)), ["fluency"], judge=judge)
    run = submit(project, owner, spec)
    runner.work(run.pk)
    assert_adds_up(run)
    assert run.state == RunState.COMPLETED_WITH_ERRORS
    assert (run.passed, run.errored) == (5, 1)
    bad = Result.objects.get(outcome=Outcome.ERROR)
    assert bad.error_code == "internal_error"
    assert "a fault of ours" in bad.reason


def test_a_retry_without_its_judge_is_refused_and_changes_nothing(project, owner, llm):
    llm.script = lambda _body, n: error(400, "No.") if n == 0 else verdict(4)
    judge = make_deployment(project, llm.url)
    spec = make_spec(make_version(project, rows(3)), ["fluency"], judge=judge)
    run = submit(project, owner, spec)
    runner.work(run.pk)
    judge.delete()
    with pytest.raises(lifecycle.ModelsGone, match="fake"):
        lifecycle.retry_errors(run)
    assert_adds_up(run)
    assert run.state == RunState.COMPLETED_WITH_ERRORS
    assert (run.done, run.errored) == (3, 1)
