"""Small charts that stand beside a number or in a table cell. See `charts`."""

from __future__ import annotations

from collections.abc import Sequence

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from workspace.charts import (
    NOTHING,
    Direction,
    figure,
    join,
    part,
    percent,
    reaches,
    rect,
    svg,
)

MOST_LEVELS = 64
BARS_WIDTH = 120
BARS_HEIGHT = 24


def bars(bins: Sequence[Sequence[float]], label: str) -> SafeString:
    """How measures are spread: `bins` are (from, to, count), lowest first."""
    most = max((count for _low, _high, count in bins), default=0)
    if not most:
        return NOTHING
    step = BARS_WIDTH / len(bins)
    body = join(
        [
            rect(
                "bar",
                x=step * place,
                y=BARS_HEIGHT - tall,
                width=max(1.0, step - 1),
                height=tall,
            )
            for place, tall in enumerate(
                max(1.0, BARS_HEIGHT * count / most) if count else 0.0
                for _low, _high, count in bins
            )
            if tall
        ]
    )
    return svg(body, height=BARS_HEIGHT, width=BARS_WIDTH, label=label)


def sparkline(
    values: Sequence[float],
    *,
    label: str | None = None,
    width: float = 72,
    height: float = 22,
) -> SafeString:
    """The course of a value over time, with a dot on the latest."""
    if not values:
        return NOTHING
    low, high = min(values), max(values)
    step = (width - 6) / max(1, len(values) - 1)
    dots = [
        (
            3 + step * place,
            height / 2
            if high == low
            else height - 3 - (height - 6) * part(value, low, high),
        )
        for place, value in enumerate(values)
    ]
    points = " ".join(f"{figure(x)},{figure(y)}" for x, y in dots)
    x, y = dots[-1]
    body = format_html(
        '<polyline class="line" points="{}"/>'
        '<circle class="pt" cx="{}" cy="{}" r="3"/>',
        points,
        figure(x),
        figure(y),
    )
    return svg(body, height=height, width=width, label=label)


def meter(
    value: float,
    minimum: float = 0,
    maximum: float = 1,
    threshold: float | None = None,
    *,
    passed: bool | None = None,
    direction: Direction = "increase",
    width: float = 64,
) -> SafeString:
    """A small bar beside a number: how far the value is, and where it passes.

    Hidden from assistive technology, because the number says the same.
    """
    good = reaches(value, threshold, direction) if passed is None else passed
    filled = width * part(value, minimum, maximum)
    pieces = [
        rect("track", y=3, width=width, rx=2, height=4),
        rect(f"fill-{'pass' if good else 'fail'}", y=3, width=filled, rx=2, height=4),
    ]
    if threshold is not None:
        pieces.append(
            format_html(
                '<line class="thr" x1="{0}" x2="{0}" y1="0" y2="10"/>',
                figure(width * part(threshold, minimum, maximum)),
            )
        )
    return svg(join(pieces), height=10, width=width)


def fill_bar(
    count: float, total: float, *, height: float = 6, classes: str = "bar"
) -> SafeString:
    """A plain share of a whole. The number stands beside it."""
    round_end = height / 2
    return svg(
        format_html(
            "{}{}",
            rect("track", width="100%", rx=round_end, height=height),
            rect(
                classes,
                width=percent(100 * part(count, 0, total or 1)),
                rx=round_end,
                height=height,
            ),
        ),
        height=height,
    )


def waveform(levels: Sequence[int], *, bars: int = MOST_LEVELS) -> SafeString:
    """The loudness of a recording, 0 to 100, as bars around a middle line."""
    steady = resample(levels, bars)
    body = format_html_join(
        "",
        '<rect x="{}" y="{}" width="2" height="{}" rx="1"/>',
        (
            (3 * place, figure(12 - tall / 2), figure(tall))
            for place, tall in (
                (place, 2 + 20 * min(100, max(0, level)) / 100)
                for place, level in enumerate(steady)
            )
        ),
    )
    return format_html(
        '<svg class="wave" viewBox="0 0 {} 24" preserveAspectRatio="none"'
        ' aria-hidden="true">{}</svg>',
        3 * len(steady),
        body,
    )


def resample(levels: Sequence[int], bars: int) -> list[int]:
    """At most `bars` levels: the loudest of each stretch."""
    if not levels:
        return [0] * bars
    if len(levels) <= bars:
        return list(levels)
    edges = [len(levels) * place // bars for place in range(bars + 1)]
    return [max(levels[a:b]) for a, b in zip(edges, edges[1:], strict=False)]
