"""Writing what happened: one thread per process commits for all chunks.

Everything of one batch goes into one transaction: the lease is renewed with its token
in the WHERE clause, items, completions and results are inserted, and the counters of
the run grow. A writer whose lease was lost writes nothing.
"""

from __future__ import annotations

import hashlib
import logging
import queue
import threading
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

from django.db import close_old_connections, connection, transaction
from django.db.models import F
from django.utils import timezone

from assay.data.chat import ChatReply
from assay.data.jsonx import JSONObject, canonical, dumps
from assay.data.paths import MISSING, resolve
from assay.data.text import storable
from assay.running.engine import CriterionDone, Event, RowDone, RowTask, TargetDone
from assay.scoring.outcome import Outcome, ResultValue
from evaluations.models import Chunk, Item, Result, Run
from evaluations.models.run import ChunkState
from evaluations.planning import Loaded
from evaluations.previews import input_preview, output_preview
from targets.models import Completion
from workspace.leases import FREE, renew

log = logging.getLogger("evaluations.record")

BATCH_EVENTS = 200
BATCH_SECONDS = 0.5
KEPT_ELSEWHERE = frozenset({"sample_input", "sample_output"})
OUTCOME_COUNTERS = {
    Outcome.PASS: "passed",
    Outcome.FAIL: "failed",
    Outcome.NOT_APPLICABLE: "skipped",
    Outcome.ERROR: "errored",
}


@dataclass(slots=True)
class Held:
    """A chunk that this process holds: what it needs to write its rows.

    `items` maps (index, repeat) to the ids of items that exist. `is_lost` is set when
    the lease is gone: nothing more is written.
    """

    chunk: Chunk
    loaded: Loaded
    row_ids: dict[int, int]
    tasks: list[RowTask]
    items: dict[tuple[int, int], int] = field(default_factory=dict)
    is_lost: bool = False

    @property
    def run(self) -> Run:
        return self.loaded.run


@dataclass(frozen=True, slots=True)
class ChunkDone:
    """All rows of a chunk are done; sent after their events."""


@dataclass(slots=True)
class _Draft:
    """What one batch changes on one item."""

    task: RowTask
    fields: dict[str, Any] = field(default_factory=dict)
    reply: ChatReply | None = None


class Writer:
    """The writer thread of this process."""

    def __init__(self) -> None:
        self._queue: queue.Queue[tuple[Held, Event | ChunkDone] | None] = queue.Queue()
        self._thread = threading.Thread(target=self._run, name="writer", daemon=True)
        self._thread.start()

    def put(self, held: Held, event: Event | ChunkDone) -> None:
        self._queue.put((held, event))

    def flush(self) -> None:
        """Wait until all that was put so far is committed or dropped."""
        self._queue.join()

    def stop(self) -> None:
        self._queue.put(None)
        self._thread.join(timeout=30)

    def _run(self) -> None:
        while True:
            batch, ended = self._take()
            try:
                self._write(batch)
            finally:
                for _ in batch:
                    self._queue.task_done()
            if ended:
                self._queue.task_done()
                connection.close()
                return

    def _take(self) -> tuple[list[tuple[Held, Event | ChunkDone]], bool]:
        """Up to `BATCH_EVENTS` events, or those of `BATCH_SECONDS`."""
        first = self._queue.get()
        if first is None:
            return [], True
        batch, until = [first], monotonic() + BATCH_SECONDS
        while len(batch) < BATCH_EVENTS:
            try:
                entry = self._queue.get(timeout=max(0.0, until - monotonic()))
            except queue.Empty:
                break
            if entry is None:
                return batch, True
            batch.append(entry)
        return batch, False

    def _write(self, batch: list[tuple[Held, Event | ChunkDone]]) -> None:
        by_chunk: dict[int, tuple[Held, list[Event | ChunkDone]]] = {}
        for held, event in batch:
            by_chunk.setdefault(held.chunk.pk, (held, []))[1].append(event)
        close_old_connections()
        for held, events in by_chunk.values():
            if held.is_lost:
                continue
            try:
                write_events(held, events)
            except Exception:
                # The rows stay unwritten and the lease ends: another attempt follows.
                log.exception("batch_not_written chunk=%s", held.chunk.pk)
                held.is_lost = True


def write_events(held: Held, events: Iterable[Event | ChunkDone]) -> None:
    """Commit the events of one chunk, or nothing when its lease was lost."""
    events = list(events)
    created: dict[tuple[int, int], int] = {}
    with transaction.atomic():
        if not renew(held.chunk):
            held.is_lost = True
            log.info("lease_lost chunk=%s run=%s", held.chunk.pk, held.run.pk)
            return
        counters: Counter[str] = Counter()
        created = _write_items(held, events, counters)
        ids = {**held.items, **created}
        for event in events:
            if isinstance(event, RowDone):
                counters["done"] += 1
                counters[OUTCOME_COUNTERS[event.outcome]] += 1
        _write_results(held, events, ids, counters)
        if counters:
            changes = {name: F(name) + value for name, value in counters.items()}
            Run.objects.filter(pk=held.run.pk).update(**changes)
        if any(isinstance(event, ChunkDone) for event in events):
            Chunk.objects.filter(pk=held.chunk.pk, lease=held.chunk.lease).update(
                state=ChunkState.DONE, **FREE
            )
    held.items.update(created)


def _write_items(
    held: Held, events: list[Event | ChunkDone], counters: Counter[str]
) -> dict[tuple[int, int], int]:
    """Create and update the items that the events touch. Returns the new ids."""
    drafts: dict[tuple[int, int], _Draft] = {}
    for event in events:
        if isinstance(event, ChunkDone):
            continue
        key = (event.task.index, event.task.repeat)
        draft = drafts.setdefault(key, _Draft(event.task))
        if isinstance(event, TargetDone):
            _apply_target(draft, event)
            if event.reply:
                _count(counters, "target", event.reply)
        elif isinstance(event, RowDone):
            draft.fields["outcome"] = event.outcome
    evidence = [d for d in drafts.values() if d.reply]
    ref = held.run.target.get("deployment", "")
    completions = _completions(held, [(d.reply, ref) for d in evidence if d.reply])
    for draft, completion in zip(evidence, completions, strict=True):
        draft.fields["completion_id"] = completion.pk
    new = {key: d for key, d in drafts.items() if key not in held.items}
    items = [
        Item(
            run=held.run,
            row_id=held.row_ids[index],
            index=index,
            repeat=repeat,
            input_preview=input_preview(d.task.item, held.loaded.input_paths),
            **{"preview": stored_response(d.task.item, held.loaded), **d.fields},
        )
        for (index, repeat), d in new.items()
    ]
    Item.objects.bulk_create(items)
    for key, draft in drafts.items():
        if key in held.items and draft.fields:
            Item.objects.filter(pk=held.items[key]).update(**draft.fields)
    return {(item.index, item.repeat): item.pk for item in items}


def stored_response(item: JSONObject, loaded: Loaded) -> str:
    """The stored response of a row, for lists; none when a target makes it."""
    if loaded.plan.target is not None:
        return ""
    for path in loaded.response_paths:
        value = resolve(path, {"item": item})
        if value is not MISSING:
            return output_preview(value)
    return ""


def _apply_target(draft: _Draft, event: TargetDone) -> None:
    draft.reply = event.reply
    if event.output is not None:
        draft.fields["output"] = dumps(event.output)
        draft.fields["preview"] = output_preview(event.output.get("output_text"))
        draft.fields["error_code"] = draft.fields["error_text"] = ""
    if event.reply is not None:
        draft.fields["latency_ms"] = event.reply.latency_ms
    if event.error is not None:
        draft.fields["error_code"] = event.error.code
        draft.fields["error_text"] = storable(event.error.sentence)
        draft.fields["preview"] = ""


def _write_results(
    held: Held,
    events: list[Event | ChunkDone],
    ids: dict[tuple[int, int], int],
    counters: Counter[str],
) -> None:
    done = [event for event in events if isinstance(event, CriterionDone)]
    judges = {c.key: c.judge for c in held.loaded.plan.criteria}
    replies = [(r, judges[e.criterion]) for e in done for r in e.replies]
    for reply, _judge in replies:
        _count(counters, "judge", reply)
    completions = iter(_completions(held, replies))
    results = []
    for event in done:
        evidence = [next(completions) for _ in event.replies]
        for number, value in enumerate(event.results):
            completion = _evidence_of(value, number, event, evidence)
            results.append(
                Result(
                    run=held.run,
                    item_id=ids[event.task.index, event.task.repeat],
                    metric_id=held.loaded.metric_ids[event.criterion, value.metric],
                    score=value.score,
                    outcome=value.outcome,
                    label=storable(value.label or "")[:80],
                    reason=storable(value.reason or ""),
                    error_code=value.error_code or "",
                    details=details_text(value),
                    completion=completion,
                )
            )
    Result.objects.bulk_create(results)


def _evidence_of(
    value: ResultValue,
    number: int,
    event: CriterionDone,
    evidence: list[Completion],
) -> Completion | None:
    """The call that gave a result: the last one with the text that it was read from."""
    answer = value.properties.get("sample_output")
    for reply, completion in zip(
        reversed(event.replies), reversed(evidence), strict=True
    ):
        if answer is not None and reply.text == answer:
            return completion
    return evidence[-1] if evidence and len(event.results) == 1 else None


def details_text(value: ResultValue) -> str:
    """Properties as JSON text; what was sent and came back is in the completion."""
    kept = {k: v for k, v in value.properties.items() if k not in KEPT_ELSEWHERE}
    return dumps(kept) if kept else ""


def _count(counters: Counter[str], who: str, reply: ChatReply) -> None:
    counters["calls"] += 1
    counters[f"{who}_prompt_tokens"] += reply.usage.prompt_tokens
    counters[f"{who}_completion_tokens"] += reply.usage.completion_tokens
    if reply.usage.cost is None:
        counters["unpriced_calls"] += 1
    elif reply.usage.cost:
        counters[f"{who}_cost"] += reply.usage.cost  # type: ignore[assignment]


def _completions(held: Held, replies: list[tuple[ChatReply, str]]) -> list[Completion]:
    """Evidence rows for calls, in the order given."""
    project_id = held.run.evaluation.project_id
    now = timezone.now()
    rows = []
    for reply, ref in replies:
        config = held.loaded.models.get(ref)
        request = canonical(reply.sent)
        rows.append(
            Completion(
                project_id=project_id,
                deployment_id=config.pk if config else None,
                key=_key(request, config.base_url if config else ""),
                request=request,
                response=dumps(_answer(reply)),
                prompt_tokens=reply.usage.prompt_tokens,
                completion_tokens=reply.usage.completion_tokens,
                cost=reply.usage.cost,
                latency_ms=reply.latency_ms,
                created_at=now,
            )
        )
    return Completion.objects.bulk_create(rows)


def _answer(reply: ChatReply) -> JSONObject:
    answer: JSONObject = {
        "model": reply.model,
        "content": reply.text,
        "finish_reason": reply.finish_reason,
    }
    if reply.refusal:
        answer["refusal"] = reply.refusal
    if reply.reasoning:
        answer["reasoning_content"] = reply.reasoning
    if reply.tool_calls:
        answer["tool_calls"] = list(reply.tool_calls)
    return answer


def _key(request: str, base_url: str) -> str:
    return hashlib.sha256(f"{base_url}\n{request}".encode()).hexdigest()
