"""Template tags and filters of the interface: `{% load ui %}`."""

from __future__ import annotations

import datetime as dt
import json
import math
from collections.abc import Mapping
from typing import Any

from django import template
from django.core.paginator import Page
from django.forms import BoundField, Form, widgets
from django.http import QueryDict
from django.templatetags.static import static
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from workspace import charts, formats, minicharts, transcript
from workspace.sentences import say

register = template.Library()

STATUSES: dict[str, tuple[str, str, Any]] = {
    # status: (tone, icon, word)
    "pass": ("pass", "pass", gettext_lazy("Pass")),
    "fail": ("fail", "fail", gettext_lazy("Fail")),
    "error": ("warn", "warn", gettext_lazy("Error")),
    "not_applicable": ("neutral", "na", gettext_lazy("Not applicable")),
    "running": ("info", "spinner", gettext_lazy("Running")),
    "queued": ("neutral", "clock", gettext_lazy("Queued")),
    "paused": ("neutral", "pause", gettext_lazy("Paused")),
    "canceling": ("neutral", "spinner", gettext_lazy("Canceling")),
    "canceled": ("neutral", "stop", gettext_lazy("Canceled")),
    "completed": ("pass", "pass", gettext_lazy("Completed")),
    "completed_with_errors": ("warn", "warn", gettext_lazy("Completed with errors")),
    "failed": ("fail", "fail", gettext_lazy("Failed")),
    "ready": ("pass", "pass", gettext_lazy("Ready")),
    "checking": ("info", "spinner", gettext_lazy("Checking")),
    "draft": ("warn", "edit", gettext_lazy("Draft")),
}
SPINNING = "spinner"

WIDGET_KINDS: tuple[tuple[type[widgets.Widget], str], ...] = (
    (widgets.CheckboxSelectMultiple, "choices"),
    (widgets.RadioSelect, "choices"),
    (widgets.CheckboxInput, "check"),
    (widgets.Select, "select"),
    (widgets.Textarea, "textarea"),
    (widgets.FileInput, "file"),
)
CLASSES = {"textarea": "textarea", "input": "input", "file": "input"}

LARGE_WAVE, SMALL_WAVE = 64, 28
THUMB_WIDTH, THUMB_HEIGHT = 168, 112
DJANGO_ROWS = "10"

# Icons, badges and scores


@register.simple_tag
def icon(name: str, size: str = "", classes: str = "") -> SafeString:
    """An icon of the sprite. Sizes: "" 20 px, "s" 16 px, "xs" 12 px, "l" 32 px."""
    names = " ".join(filter(None, ("ic", size and f"ic-{size}", classes)))
    return format_html(
        '<svg class="{}" aria-hidden="true"><use href="{}#{}"/></svg>',
        names,
        static("icons.svg"),
        name,
    )


@register.simple_tag
def badge(status: str, text: str = "", *, plain: bool = False) -> SafeString:
    """A status with its icon and word; `plain` drops the box, for table cells."""
    tone, symbol, word = STATUSES.get(status, ("neutral", "info", status))
    spin = "spin" if symbol == SPINNING else ""
    return format_html(
        '<span class="badge {}badge-{}">{}{}</span>',
        "badge-plain " if plain else "",
        tone,
        icon(symbol, "", spin),
        text or word,
    )


def score_band(
    value: float, minimum: float, maximum: float, direction: str = "increase"
) -> int | None:
    """The colour 1–5 of a whole score on a short whole scale, else nothing."""
    whole = all(float(x).is_integer() for x in (value, minimum, maximum))
    steps = maximum - minimum
    if not whole or not 2 <= steps <= 10:
        return None
    band = 1 + round(4 * charts.part(value, minimum, maximum))
    return 6 - band if direction == "decrease" else band


@register.simple_tag
def score(
    value: float | None,
    minimum: float = 1,
    maximum: float = 5,
    direction: str = "increase",
) -> SafeString:
    """A pill with the digit of an ordinal score, or two decimals, or “n/a”."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return format_html('<span class="score score-na">{}</span>', _("n/a"))
    band = score_band(value, minimum, maximum, direction)
    if band is None:
        return format_html('<span class="tnum">{}</span>', f"{value:.2f}")
    return format_html('<span class="score score-{}">{}</span>', band, f"{value:.0f}")


@register.simple_tag
def score_bar(
    value: float | None,
    minimum: float = 0,
    maximum: float = 1,
    threshold: float | None = None,
    *,
    passed: bool | None = None,
    direction: charts.Direction = "increase",
    half: float | None = None,
    width: float = 64,
) -> SafeString:
    """A small bar with the threshold tick and the number; `half` adds ±."""
    if value is None:
        return format_html('<span class="muted">{}</span>', formats.NOTHING)
    bar = minicharts.meter(
        value,
        minimum,
        maximum,
        threshold,
        passed=passed,
        direction=direction,
        width=width,
    )
    number = format_html("{}", f"{value:.2f}")
    if half is not None:
        number = format_html(
            '<b>{}</b> <span class="small muted">±{}</span>', number, f"{half:.2f}"
        )
    return format_html('<span class="scorebar">{}<span>{}</span></span>', bar, number)


@register.simple_tag
def delta(
    value: float | None, verdict: str = "", against: str = "", decimals: int = 2
) -> SafeString:
    """A change with an arrow; green or red only for “Improved” and “Degraded”."""
    if value is None:
        return SafeString("")
    tone = {"Improved": "delta-up", "Degraded": "delta-down"}.get(
        verdict.split(" ")[0], ""
    )
    arrow = icon("desc" if value < 0 else "asc", "xs")
    meaning = f"{verdict} {against}".strip()
    return format_html(
        '<span class="delta {}" title="{}">{}{}<span class="sr"> {}</span></span>',
        tone,
        meaning,
        arrow,
        f"{abs(value):.{decimals}f}",
        meaning,
    )


# Numbers and times

register.simple_tag(formats.share, name="share")
register.filter("compact_number", formats.compact_number)
register.filter("duration", formats.duration)
register.filter("clock", formats.clock)
register.filter("money", formats.money)
register.filter("rounded", formats.rounded)
register.filter("signed", formats.signed)
register.filter("filesize", formats.filesize)
register.filter("preview", formats.preview)
register.filter("say", say)
register.simple_tag(formats.compact_number, name="compact_number")
register.simple_tag(formats.duration, name="duration")
register.simple_tag(formats.money, name="money")
register.simple_tag(formats.filesize, name="filesize")


@register.simple_tag
def when(moment: dt.datetime | None, *, relative: bool = False) -> SafeString:
    """A point in time in words, exact in `title`; `relative` says “12 min ago”."""
    if moment is None:
        return format_html('<span class="muted">{}</span>', formats.NOTHING)
    local = timezone.localtime(moment)
    words = formats.ago(moment) if relative else formats.moment(moment)
    return format_html(
        '<time datetime="{}" title="{}">{}</time>',
        local.isoformat(timespec="seconds"),
        f"{local:%Y-%m-%d %H:%M:%S %Z}",
        words,
    )


@register.filter
def times(count: int) -> range:
    """A range to loop over: `{% for _ in 8|times %}`."""
    return range(int(count))


@register.filter
def text_value(value: object) -> str:
    """A value of a dataset cell as text: JSON for structures, words for the rest."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, default=str)


# Charts

for chart in (
    charts.histogram,
    charts.likert,
    charts.stacked_bar,
    charts.interval_bar,
    minicharts.bars,
    minicharts.sparkline,
    minicharts.meter,
    minicharts.fill_bar,
    minicharts.waveform,
):
    register.simple_tag(chart)


# Query strings and pages


def canonical_query(
    current: QueryDict,
    changes: Mapping[str, object],
    defaults: Mapping[str, object] | None = None,
) -> str:
    """`current` with `changes`: sorted keys, no defaults, no empty values.

    None removes a key, a list gives a key several values. Any change but that
    of the page leads back to page one.
    """
    values = {key: current.getlist(key) for key in current}
    if changes and "page" not in changes:
        values.pop("page", None)
    for key, value in changes.items():
        if value is None:
            values.pop(key, None)
        elif isinstance(value, list | tuple | set | frozenset):
            values[key] = sorted(str(item) for item in value)
        else:
            values[key] = [str(value)]
    dropped = {"page": "1", **{k: str(v) for k, v in (defaults or {}).items()}}
    query = QueryDict(mutable=True)
    for key in sorted(values):
        kept = [v for v in values[key] if v not in ("", dropped.get(key))]
        if kept:
            query.setlist(key, kept)
    return f"?{query.urlencode()}"


@register.simple_tag(takes_context=True)
def query_url(context: template.Context, **changes: object) -> str:
    """The address of this page with a changed query string.

    Defaults that are left out stand in the context as `query_defaults`.
    """
    request = context.get("request")
    current = request.GET if request is not None else QueryDict()
    return canonical_query(current, changes, context.get("query_defaults"))


@register.inclusion_tag("_ui/_pager.html", takes_context=True)
def pager(
    context: template.Context, page_obj: Page[Any], label: str = ""
) -> dict[str, object]:
    """Links to the pages of a list. The query string is kept."""
    links = [
        {
            "number": number,
            "url": query_url(context, page=number) if isinstance(number, int) else "",
            "current": number == page_obj.number,
        }
        for number in page_obj.paginator.get_elided_page_range(
            page_obj.number, on_each_side=1, on_ends=1
        )
    ]
    before = page_obj.number - 1 if page_obj.has_previous() else None
    after = page_obj.number + 1 if page_obj.has_next() else None
    return {
        "label": label or _("Pages"),
        "links": links,
        "previous_url": query_url(context, page=before) if before else "",
        "next_url": query_url(context, page=after) if after else "",
    }


@register.inclusion_tag("_ui/_sort.html", takes_context=True)
def sort_link(
    context: template.Context, key: str, text: str, current: str = ""
) -> dict[str, object]:
    """A column head that sorts; `current` is the sort key in use, “-” for falling."""
    falling = current == f"-{key}"
    active = falling or current == key
    return {
        "url": query_url(context, sort=key if falling else f"-{key}"),
        "text": text,
        "icon": "asc" if active and not falling else "desc",
    }


@register.simple_tag
def aria_sort(key: str, current: str = "") -> SafeString:
    """The attribute for the `th` of the column that sorts the list."""
    direction = {key: "ascending", f"-{key}": "descending"}.get(current)
    return format_html('aria-sort="{}"', direction) if direction else SafeString("")


# Media, conversations, JSON


def media_kind(value: Mapping[str, Any]) -> str:
    """image, audio or other; from the type when the kind is not stored."""
    kind = value.get("kind") or str(value.get("mime") or "").partition("/")[0]
    return kind if kind in ("image", "audio") else "other"


@register.inclusion_tag("_ui/_media.html", takes_context=True)
def media(
    context: template.Context,
    value: Mapping[str, Any],
    size: str = "",
    name: str = "",
) -> dict[str, object]:
    """A stored medium. Sizes: "" in tables, "m" in previews, "l" in conversations."""
    slug = context["shell"]["project"].slug
    sha = value["$blob"]
    kind = media_kind(value)
    alt = value.get("alt") or (_("Image") if kind == "image" else "")
    bars = LARGE_WAVE if size == "l" else SMALL_WAVE
    return {
        "kind": kind,
        "url": reverse("media", args=[slug, sha]),
        "size": size,
        "alt": alt,
        "name": name or alt or (_("recording") if kind == "audio" else _("file")),
        "mime": value.get("mime") or "",
        "bytes": formats.filesize(value.get("size")),
        "width": value.get("width"),
        "height": value.get("height"),
        "thumb": thumb_box(value.get("width"), value.get("height")),
        "length": formats.clock(value.get("duration")),
        "transcript": value.get("transcript") or "",
        "problem": value.get("problem") or "",
        "source": value.get("url") or "",
        "wave": minicharts.waveform(value.get("waveform") or [], bars=bars)
        if kind == "audio"
        else "",
    }


def thumb_box(width: int | None, height: int | None) -> tuple[int, int]:
    """The size of a thumbnail: inside 168 × 112, never enlarged."""
    if not width or not height:
        return THUMB_WIDTH, THUMB_HEIGHT
    scale = min(1.0, THUMB_WIDTH / width, THUMB_HEIGHT / height)
    return max(1, round(width * scale)), max(1, round(height * scale))


@register.inclusion_tag("_ui/_conversation.html", takes_context=True)
def conversation(context: template.Context, messages: Any) -> dict[str, object]:
    """Messages with text, media and tool calls."""
    return {"turns": transcript.turns(messages), "shell": context.get("shell")}


@register.inclusion_tag("_ui/_json.html")
def json_tree(value: Any, name: str | None = None, note: str = "") -> dict[str, object]:
    """A JSON value that opens and closes, bounded in depth and size."""
    return {"nodes": transcript.json_nodes(value, name, note), "is_root": True}


# Forms


def widget_kind(bound: BoundField) -> str:
    return next(
        (kind for cls, kind in WIDGET_KINDS if isinstance(bound.field.widget, cls)),
        "input",
    )


@register.simple_tag
def control(bound: BoundField, classes: str = "") -> SafeString:
    """The widget of a bound field with its classes and its aria attributes."""
    kind = widget_kind(bound)
    own = bound.field.widget.attrs.get("class", "")
    attrs: dict[str, str | bool] = {
        "class": " ".join(filter(None, (CLASSES.get(kind, ""), own, classes)))
    }
    if not attrs["class"]:
        del attrs["class"]
    described = " ".join(
        f"{bound.auto_id}{suffix}"
        for suffix, shown in (("_helptext", bound.help_text), ("_error", bound.errors))
        if shown
    )
    if described and not bound.use_fieldset:
        attrs["aria-describedby"] = described
    if kind == "textarea" and bound.field.widget.attrs.get("rows") == DJANGO_ROWS:
        attrs["rows"] = "3"
    return bound.as_widget(attrs=attrs)


@register.inclusion_tag("_ui/_field.html")
def field(bound: BoundField, classes: str = "", hint: str = "") -> dict[str, object]:
    """Label, control, hint and error of a form field."""
    return {"field": bound, "classes": classes, "hint": hint}


@register.filter
def control_kind(bound: BoundField) -> str:
    return widget_kind(bound)


@register.filter
def problems(form: Form) -> list[dict[str, str]]:
    """The errors of a form as the list that `_problem_list.html` shows."""
    found = [{"text": str(error), "href": ""} for error in form.non_field_errors()]
    for bound in form:
        found.extend(
            {
                "text": f"{capfirst(str(bound.label))}: {error}",
                "href": f"#{bound.id_for_label or bound.auto_id}",
            }
            for error in bound.errors
        )
    return found


@register.filter
def tone(level: str) -> str:
    """The tone of a Django message: success, warning, error, info, debug."""
    first = next(iter(level.split()), "") if level else ""
    return {"success": "pass", "warning": "warn", "error": "fail"}.get(first, "info")


@register.filter
def tone_icon(level: str) -> str:
    return {"pass": "pass", "warn": "warn", "fail": "fail"}.get(tone(level), "info")
