"""Taking chunks: one conditional update decides who holds which rows."""

from __future__ import annotations

from django.db.models import F

from assay.data.jsonx import JSONObject, loads
from assay.running.engine import RowTask
from assay.scoring.outcome import Outcome
from evaluations.models import Chunk, Item, Result, Run, RunState
from evaluations.models.run import FIRST_INDEX, ChunkState
from evaluations.planning import Loaded
from evaluations.record import Held
from workspace.leases import lease_fields


def claim_chunk(loaded: Loaded) -> Held | None:
    """The next chunk of the run that nobody holds, with the rows left to do in it."""
    run = loaded.run
    while True:
        pending = Chunk.objects.filter(run=run, state=ChunkState.PENDING)
        chunk = pending.order_by("attempts", "first").first()
        if chunk is None:
            return None
        fields = lease_fields()
        changed = Chunk.objects.filter(
            pk=chunk.pk, state=ChunkState.PENDING, run__state=RunState.RUNNING
        ).update(state=ChunkState.LEASED, attempts=F("attempts") + 1, **fields)
        if changed:
            chunk.attempts += 1
            chunk.lease = fields["lease"]
            chunk.lease_until = fields["lease_until"]
            return open_chunk(chunk, loaded)
        if not Run.objects.filter(pk=run.pk, state=RunState.RUNNING).exists():
            return None


def open_chunk(chunk: Chunk, loaded: Loaded) -> Held:
    """Load the rows of a chunk, without those that are done already."""
    run = loaded.run
    rows_per_repeat = run.total // run.repeats
    wanted = [
        divmod(position, rows_per_repeat)[::-1]
        for position in range(chunk.first, chunk.last + 1)
    ]
    offsets = sorted({offset for offset, _repeat in wanted})
    rows = {
        row.index: row
        for row in run.dataset_version.rows.filter(
            index__gte=offsets[0] + FIRST_INDEX, index__lte=offsets[-1] + FIRST_INDEX
        )
    }
    indexes = [(offset + FIRST_INDEX, repeat) for offset, repeat in wanted]
    items = {
        (item.index, item.repeat): item
        for item in Item.objects.filter(run=run, index__in={i for i, _r in indexes})
    }
    known = _known(loaded, items)
    tasks = [
        RowTask(
            index=index,
            repeat=repeat,
            item=rows[index].values,
            output=_output(items.get((index, repeat))),
            known=known.get((index, repeat), {}),
        )
        for index, repeat in indexes
        if index in rows and not _is_done(items.get((index, repeat)))
    ]
    return Held(
        chunk=chunk,
        loaded=loaded,
        row_ids={index: row.pk for index, row in rows.items()},
        tasks=tasks,
        items={key: item.pk for key, item in items.items()},
    )


def _is_done(item: Item | None) -> bool:
    return item is not None and item.outcome is not None


def _output(item: Item | None) -> JSONObject | None:
    if item is None or not item.output:
        return None
    value = loads(item.output)
    assert isinstance(value, dict)
    return value


def _known(
    loaded: Loaded, items: dict[tuple[int, int], Item]
) -> dict[tuple[int, int], dict[int, tuple[Outcome, ...]]]:
    """Primary outcomes of the criteria that have all their results, by item."""
    open_items = {i.pk: key for key, i in items.items() if not _is_done(i)}
    if not open_items:
        return {}
    stored: dict[int, dict[int, int]] = {}
    for item_id, metric_id, outcome in Result.objects.filter(
        item_id__in=open_items
    ).values_list("item_id", "metric_id", "outcome"):
        stored.setdefault(item_id, {})[metric_id] = outcome
    by_criterion: dict[int, list[int]] = {}
    for (criterion, _key), metric_id in loaded.metric_ids.items():
        by_criterion.setdefault(criterion, []).append(metric_id)
    known: dict[tuple[int, int], dict[int, tuple[Outcome, ...]]] = {}
    for item_id, outcomes in stored.items():
        for criterion, metric_ids in by_criterion.items():
            if all(metric_id in outcomes for metric_id in metric_ids):
                known.setdefault(open_items[item_id], {})[criterion] = tuple(
                    Outcome(outcomes[m]) for m in metric_ids if m in loaded.primary
                )
    return known
