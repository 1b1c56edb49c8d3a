"""Running rows: target first, then its evaluators side by side.

The engine takes values and services and tells what happened as events; it writes
nothing and knows no database. Whoever listens may stop at any event and go on later:
what is already known of a row is handed in with it and is not asked again.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias, TypeVar

from assay.data.chat import ChatModel, ChatReply, ChatRequest, ModelError
from assay.data.jsonx import JSON, JSONObject, canonical
from assay.running.mapping import inputs_of
from assay.running.spec import TargetSpec
from assay.running.targets import generate
from assay.scoring.definition import EvaluatorDefinition
from assay.scoring.evaluate import evaluate, evaluate_metric
from assay.scoring.outcome import Outcome, ResultValue, row_outcome

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class PlannedCriterion:
    """A criterion ready to run. `judge` names a model of the services."""

    key: int
    name: str
    definition: EvaluatorDefinition
    mapping: Mapping[str, str | None]
    thresholds: Mapping[str, float | None]
    params: Mapping[str, JSON] = field(default_factory=dict)
    judge: str = ""


@dataclass(frozen=True, slots=True)
class RunPlan:
    """`fence_key` makes the fences around data unguessable and repeatable."""

    criteria: tuple[PlannedCriterion, ...]
    fence_key: bytes
    target: TargetSpec | None = None


@dataclass(frozen=True, slots=True)
class RowTask:
    """One row to run. `output` and `known` are what an earlier attempt left.

    `known` maps criterion keys to the outcomes of their primary metrics.
    """

    index: int
    repeat: int
    item: JSONObject
    output: JSONObject | None = None
    known: Mapping[int, tuple[Outcome, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TargetDone:
    """The target answered, or gave an error."""

    task: RowTask
    output: JSONObject | None
    reply: ChatReply | None = None
    error: ModelError | None = None


@dataclass(frozen=True, slots=True)
class CriterionDone:
    """A criterion has all its results for a row; `replies` are the judge's calls."""

    task: RowTask
    criterion: int
    results: tuple[ResultValue, ...]
    replies: tuple[ChatReply, ...] = ()


@dataclass(frozen=True, slots=True)
class RowDone:
    task: RowTask
    outcome: Outcome


Event: TypeAlias = TargetDone | CriterionDone | RowDone


class Services(Protocol):
    """What the engine needs of the world."""

    def model(self, key: str) -> ChatModel: ...

    async def compute(self, work: Callable[[], T]) -> T:
        """Run arithmetic off the event loop."""
        ...


class _Recorder:
    """A model that remembers its replies, as evidence."""

    def __init__(self, model: ChatModel) -> None:
        self._model = model
        self.replies: list[ChatReply] = []

    async def complete(self, request: ChatRequest) -> ChatReply:
        reply = await self._model.complete(request)
        self.replies.append(reply)
        return reply


async def run_rows(
    plan: RunPlan,
    tasks: Iterable[RowTask],
    services: Services,
    emit: Callable[[Event], None],
    slots: asyncio.Semaphore,
) -> None:
    """Run all rows, at most as many at once as `slots` allows.

    An error that would meet every row (`ModelError.stops_run`) cancels the rows in
    flight and is raised; what was emitted stays valid.
    """

    async def guarded(task: RowTask) -> None:
        async with slots:
            await _run_row(plan, task, services, emit)

    try:
        async with asyncio.TaskGroup() as group:
            for task in tasks:
                group.create_task(guarded(task))
    except BaseExceptionGroup as failed:
        raise first_of(failed) from failed


def first_of(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The error that ended the group: a model's before any other."""
    stops = group.subgroup(ModelError)
    error: BaseException = stops or group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


async def _run_row(
    plan: RunPlan, task: RowTask, services: Services, emit: Callable[[Event], None]
) -> None:
    output, failure = task.output, None
    if plan.target is not None and output is None:
        done = await _ask_target(plan.target, task, services)
        output, failure = done.output, done.error
        emit(done)
    scope: dict[str, JSON] = {"item": task.item, "sample": output or {}}
    outcomes: list[Outcome] = []

    async def finish(work: Awaitable[CriterionDone]) -> None:
        done = await work
        emit(done)
        outcomes.extend(primary_outcomes(plan, done))

    # A group, so that a canceled row leaves no call behind.
    async with asyncio.TaskGroup() as group:
        for criterion in plan.criteria:
            if criterion.key in task.known:
                outcomes.extend(task.known[criterion.key])
            elif failure is not None:
                group.create_task(finish(_unscored(task, criterion, failure)))
            else:
                work = _score(plan, task, criterion, scope, services)
                group.create_task(finish(work))
    emit(RowDone(task, row_outcome(outcomes)))


async def _ask_target(
    target: TargetSpec, task: RowTask, services: Services
) -> TargetDone:
    try:
        model = services.model(target.deployment)
        generated = await generate(model, target, task.item, repeat=task.repeat)
    except ModelError as error:
        if error.stops_run:
            raise
        return TargetDone(task, None, reply=error.reply, error=error)
    return TargetDone(task, generated.output, generated.reply)


async def _unscored(
    task: RowTask, criterion: PlannedCriterion, failure: ModelError
) -> CriterionDone:
    """The target gave nothing: no judge is asked, every metric is an error."""
    results = tuple(
        ResultValue(
            metric.key,
            Outcome.ERROR,
            reason=f"The target gave no answer: {failure.sentence}",
            threshold=criterion.thresholds.get(metric.key, metric.threshold),
            error_code=failure.code,
        )
        for metric in criterion.definition.metrics
    )
    return CriterionDone(task, criterion.key, results)


async def _score(
    plan: RunPlan,
    task: RowTask,
    criterion: PlannedCriterion,
    scope: Mapping[str, JSON],
    services: Services,
) -> CriterionDone:
    inputs = inputs_of(criterion.mapping, scope)
    if criterion.definition.kind == "metric":
        results = await services.compute(
            lambda: evaluate_metric(
                criterion.definition,
                inputs,
                thresholds=criterion.thresholds,
                params=criterion.params,
            )
        )
        return CriterionDone(task, criterion.key, results)
    recorder = _Recorder(services.model(criterion.judge))
    results = await evaluate(
        criterion.definition,
        inputs,
        model=recorder,
        thresholds=criterion.thresholds,
        params=criterion.params,
        fence=fence_for(plan.fence_key, criterion.definition.id, inputs),
        repeat=task.repeat,
    )
    return CriterionDone(task, criterion.key, results, tuple(recorder.replies))


def fence_for(key: bytes, evaluator: str, inputs: Mapping[str, JSON]) -> str:
    """A word that the data cannot know: a keyed hash of the data itself."""
    content = f"{evaluator}\n{canonical(dict(inputs))}".encode()
    return hmac.new(key, content, hashlib.sha256).hexdigest()[:16]


def primary_outcomes(plan: RunPlan, done: CriterionDone) -> list[Outcome]:
    criterion = next(c for c in plan.criteria if c.key == done.criterion)
    primary = {m.key for m in criterion.definition.metrics if m.primary}
    return [r.outcome for r in done.results if r.metric in primary]
