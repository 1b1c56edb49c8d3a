"""Values of a row as the wizard shows them."""

from __future__ import annotations

from typing import Any

from assay.data.chat import ChatRequest, TextPart
from assay.data.jsonx import JSON, JSONObject
from assay.data.paths import MISSING, Missing, resolve
from assay.running.spec import EvaluationSpec
from blobs.queries import describe, with_media
from evaluations.previews import output_preview
from evaluations.rowfilter import whole
from evaluations.surroundings import View
from targets.models import TestCall
from workspace.models import Project
from workspace.scoping import PortalRequest


def short(value: JSON | Missing) -> str:
    """The beginning of a value; empty when there is none."""
    return "" if value is MISSING else output_preview(value)


def at(path: str | None, item: JSONObject, sample: JSONObject) -> JSON | Missing:
    return resolve(path, {"item": item, "sample": sample}) if path else MISSING


def described(project: Project, value: JSON) -> Any:
    """`value` with its media references filled in for the pages, in one query."""
    return with_media(value, describe(project, [value]))


def shown_messages(project: Project, request: ChatRequest) -> list[dict[str, Any]]:
    """The messages of a request for the conversation view."""
    messages: list[JSON] = []
    for message in request.messages:
        content: list[JSON] = []
        for part in message.parts:
            if isinstance(part, TextPart):
                content.append({"type": "text", "text": part.text})
            elif part.ref.kind == "audio":
                audio: JSON = {"data": part.ref.as_json()}
                content.append({"type": "input_audio", "input_audio": audio})
            else:
                url: JSON = {"url": part.ref.as_json()}
                content.append({"type": "image_url", "image_url": url})
        messages.append({"role": message.role, "content": content})
    shown: list[dict[str, Any]] = described(project, messages)
    return shown


def sample_row(request: PortalRequest, view: View) -> tuple[int, JSONObject]:
    """The row that `?row=` or the form names, from 1; the first one otherwise."""
    if view.version is None or not view.version.row_count:
        return 0, {}
    text = request.POST.get("row") or request.GET.get("row") or "1"
    wanted = whole(text) or 1
    number = min(max(wanted, 1), view.version.row_count)
    row = view.version.rows.filter(index=number).first()
    return number, row.values if row else {}


def last_output(project: Project, spec: EvaluationSpec) -> JSONObject:
    """What the last test call of this target gave, to show `sample.…` values."""
    if spec.target is None or spec.target.kind != "model":
        return {}
    call = (
        TestCall.objects.filter(
            project=project,
            kind=TestCall.Kind.ROW,
            deployment__ref=spec.target.deployment,
            result__ok=True,
        )
        .order_by("-pk")
        .first()
    )
    return dict(call.result["output"]) if call else {}


def row_media(project: Project, item: JSONObject) -> list[dict[str, Any]]:
    """Images and clips of a row that stand in columns of their own."""
    shown = described(project, item)
    return [
        {"name": name, "value": value}
        for name, value in shown.items()
        if isinstance(value, dict) and "$blob" in value
    ]
