"""Runs as CSV, JSON Lines and Parquet: streamed in small steps, never all at once."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from assay.data.jsonx import JSON, JSONObject, dumps, loads
from assay.data.media import as_blob
from assay.data.spreadsheets import safe_cell
from assay.data.text import storable
from assay.scoring.outcome import Outcome
from evaluations.labels import labels_of
from evaluations.models import Item, Label, Metric, Result, Run
from evaluations.queries import item_results, metrics_of, output_of, properties_of
from evaluations.scores import score_cards
from targets.models import Completion

STEP = 500
WORDS = {
    Outcome.PASS: "pass",
    Outcome.FAIL: "fail",
    Outcome.NOT_APPLICABLE: "not_applicable",
    Outcome.ERROR: "error",
}
STATUS = {
    Outcome.PASS: "completed",
    Outcome.FAIL: "completed",
    Outcome.NOT_APPLICABLE: "skipped",
    Outcome.ERROR: "error",
}


class Entry(NamedTuple):
    """A row of a run with what judges and people said about it."""

    item: Item
    results: list[Result]
    labels: list[Label]


def steps(run: Run) -> Iterator[list[Entry]]:
    """Entries in the order of the rows, `STEP` at a time. 3 queries for each step."""
    last = 0
    items = run.items.select_related("row").order_by("pk")
    while batch := list(items.filter(pk__gt=last)[:STEP]):
        last = batch[-1].pk
        by_item: dict[int, list[Result]] = {item.pk: [] for item in batch}
        found = Result.objects.filter(item__in=by_item).order_by(
            "item", "metric__criterion__position", "metric__position"
        )
        for result in found.select_related("metric__criterion"):
            by_item[result.item_id].append(result)
        said = labels_of(batch)
        yield [Entry(item, by_item[item.pk], said.get(item.pk, [])) for item in batch]


def columns_of(run: Run) -> list[str]:
    """The columns of a flat export; every metric has its own."""
    names = ["row", "repeat", "result", "error", "simulated"]
    names += [f"item.{column['name']}" for column in run.dataset_version.columns]
    names += ["labels"]
    if run.target.get("kind") != "dataset":
        names += ["sample.output_text", "latency_ms"]
    for metric in metrics_of(run.evaluation).values():
        stem = stem_of(metric)
        parts = ("score", "result", "threshold", "reason", "status", "error_code")
        names += [f"{stem}.{part}" for part in parts]
    return names


def stem_of(metric: Metric) -> str:
    return f"{metric.criterion.name}.{metric.key}"


def flat(entry: Entry) -> dict[str, JSON]:
    """One row of a flat export. Media are named, never inlined."""
    item, results, _labels = entry
    row: dict[str, JSON] = {
        "row": item.index,
        "repeat": item.repeat,
        "result": WORDS[Outcome(item.outcome)] if item.outcome else None,
        "error": item.error_text or None,
        "simulated": item.run.simulated,
        "latency_ms": item.latency_ms,
        "sample.output_text": output_of(item).get("output_text"),
    }
    if entry.labels:
        row["labels"] = dumps([label_json(label) for label in entry.labels])
    for name, value in item.row.values.items():
        row[f"item.{name}"] = plain(value)
    for result in results:
        stem = stem_of(result.metric)
        outcome = Outcome(result.outcome)
        row[f"{stem}.score"] = result.score
        row[f"{stem}.result"] = WORDS[outcome]
        row[f"{stem}.threshold"] = result.metric.threshold
        row[f"{stem}.reason"] = result.reason or None
        row[f"{stem}.status"] = STATUS[outcome]
        row[f"{stem}.error_code"] = result.error_code or None
    return row


def plain(value: JSON) -> JSON:
    """Text and numbers as they are, media by hash, anything else as JSON text."""
    blob = as_blob(value)
    if blob is not None:
        return f"blob:{blob.sha256}"
    return dumps(value) if isinstance(value, (dict, list, tuple)) else value


def as_csv(run: Run) -> Iterator[bytes]:
    """CSV in UTF-8 with a BOM, which spreadsheets want."""
    names = columns_of(run)
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow([safe_cell(name) for name in names])
    yield b"\xef\xbb\xbf" + _taken(buffer)
    for batch in steps(run):
        for entry in batch:
            row = flat(entry)
            writer.writerow([safe_cell(row.get(name)) for name in names])
        yield _taken(buffer)


def _taken(buffer: io.StringIO) -> bytes:
    text = buffer.getvalue()
    buffer.seek(0)
    buffer.truncate()
    return text.encode("utf-8", "replace")


def as_jsonl(run: Run) -> Iterator[bytes]:
    """One object per row: item, sample, results in the one result contract."""
    for batch in steps(run):
        lines = [dumps(nested(entry)) for entry in batch]
        yield ("\n".join(lines) + "\n").encode()


def nested(entry: Entry) -> JSONObject:
    item, results, labels = entry
    return {
        "row": item.index,
        "repeat": item.repeat,
        "result": WORDS[Outcome(item.outcome)] if item.outcome else None,
        "error": {"code": item.error_code, "message": item.error_text}
        if item.error_code
        else None,
        "simulated": item.run.simulated,
        "latency_ms": item.latency_ms,
        "item": item.row.values,
        "sample": output_of(item),
        "results": [_result(result) for result in results],
        "labels": [label_json(label) for label in labels],
    }


def label_json(label: Label) -> JSONObject:
    """What a person said about a row; scores of dimensions by their id."""
    verdict = WORDS[Outcome(label.verdict)] if label.verdict else None
    return {
        "by": str(label.by),
        "verdict": verdict,
        "score": label.score,
        "dimensions": dict(label.dimensions),
        "comment": label.comment or None,
        "changed_at": label.changed_at.isoformat(),
    }


def _result(result: Result) -> JSONObject:
    outcome = Outcome(result.outcome)
    scored = outcome in (Outcome.PASS, Outcome.FAIL)
    return {
        "criterion": result.metric.criterion.name,
        "metric": result.metric.key,
        "score": result.score,
        "label": result.label or WORDS[outcome],
        "reason": result.reason or None,
        "threshold": result.metric.threshold,
        "passed": outcome is Outcome.PASS if scored else None,
        "status": STATUS[outcome],
        "error_code": result.error_code or None,
        "properties": properties_of(result),
    }


def write_parquet(run: Run, path: Path) -> None:
    """Parquet with one type per column. Imports pandas: call it in a child process."""
    import pandas as pd
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = columns_of(run)
    numbers = {n for n in names if n.endswith((".score", ".threshold"))}
    whole = {"row", "repeat", "latency_ms"}
    schema = pa.schema(
        [
            (
                name,
                pa.float64()
                if name in numbers
                else pa.int64()
                if name in whole
                else pa.string(),
            )
            for name in names
        ]
    )
    with pq.ParquetWriter(path, schema) as writer:
        for batch in steps(run):
            rows = [_typed(flat(entry), names, numbers | whole) for entry in batch]
            frame = pd.DataFrame(rows, columns=names, dtype=object)
            table = pa.Table.from_pandas(frame, schema=schema, preserve_index=False)
            writer.write_table(table)


def _typed(row: JSONObject, names: list[str], numeric: set[str]) -> JSONObject:
    """Values that are no numbers become text, so that a column has one type."""
    typed: JSONObject = {}
    for name in names:
        value = row.get(name)
        keep = value is None or name in numeric or isinstance(value, str)
        value = value if keep else dumps(value)
        typed[name] = storable(value) if isinstance(value, str) else value
    return typed


def raw_run(run: Run) -> JSONObject:
    """A run as JSON: what was asked for, counts, costs and tallies. 2 queries."""
    version = run.dataset_version
    cards = score_cards(run, metrics_of(run.evaluation))
    return {
        "id": run.ref,
        "number": run.number,
        "name": run.name,
        "state": run.state_key,
        "simulated": run.simulated,
        "evaluation": {
            "id": run.evaluation.ref,
            "name": run.evaluation.name,
            "spec": run.evaluation.spec,
        },
        "dataset": {
            "id": version.ref,
            "name": version.dataset.name,
            "version": version.number,
            "rows": version.row_count,
        },
        "target": run.target,
        "mappings": run.mappings,
        "rows": {
            "total": run.total,
            "done": run.done,
            "passed": run.passed,
            "failed": run.failed,
            "errored": run.errored,
            "not_applicable": run.skipped,
        },
        "usage": _usage(run),
        "metrics": [
            {
                "criterion": card.metric.criterion.name,
                "metric": card.metric.key,
                "judge": card.metric.criterion.judge_name or None,
                "threshold": card.metric.threshold,
                "direction": card.metric.direction,
                "pass_rate": card.share.value,
                "mean": card.mean,
                **card.tally.as_json(),
            }
            for card in cards
        ],
        "error": run.error or None,
        "pause_reason": run.pause_reason or None,
        "created_at": run.created_at.isoformat(),
        "started_at": run.started_at.isoformat() if run.started_at else None,
        "finished_at": run.finished_at.isoformat() if run.finished_at else None,
    }


def _usage(run: Run) -> JSONObject:
    return {
        "target": {
            "prompt_tokens": run.target_prompt_tokens,
            "completion_tokens": run.target_completion_tokens,
            "cost": run.target_cost,
        },
        "judge": {
            "prompt_tokens": run.judge_prompt_tokens,
            "completion_tokens": run.judge_completion_tokens,
            "cost": run.judge_cost,
        },
        "calls": run.calls,
        "calls_without_price": run.unpriced_calls,
        "cost_limit": run.max_cost,
    }


def raw_row(item: Item) -> JSONObject:
    """A row with its results and every call in full. 1 query."""
    results = item_results(item)
    said = labels_of([item]).get(item.pk, [])
    row = nested(Entry(item, results, said))
    assert isinstance(row["results"], list)
    for shown, result in zip(row["results"], results, strict=True):
        assert isinstance(shown, dict)
        shown["call"] = _call(result.completion)
    return {
        **row,
        "call": _call(item.completion),
        "errors_before": loads(item.history) if item.history else [],
    }


def _call(call: Completion | None) -> JSON:
    if call is None:
        return None
    return {
        "request": loads(call.request),
        "response": loads(call.response),
        "prompt_tokens": call.prompt_tokens,
        "completion_tokens": call.completion_tokens,
        "cost": call.cost,
        "latency_ms": call.latency_ms,
    }
