"""Charts as SVG, drawn by the server.

Colour comes from classes in components.css, so themes, print and forced colours
work. Widths are percentages and heights are fixed. Equal data give equal bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

Kind = Literal["ordinal", "continuous"]
Direction = Literal["increase", "decrease"]
Links = Sequence[str | None]

PLOT_HEIGHT = 36
CHART_HEIGHT = 50
LEAST_BAR = 1.5
LABEL_FROM = 5.5
"""Share of the width, in percent, from which a segment shows its count."""

NOTHING = SafeString("")


def figure(value: float) -> str:
    """A coordinate with at most two decimals and no trailing zeros."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def part(value: float, minimum: float, maximum: float) -> float:
    """The place of a value on a scale, from 0 to 1."""
    if maximum == minimum:
        return 0.0
    return min(1.0, max(0.0, (value - minimum) / (maximum - minimum)))


def reaches(
    value: float, threshold: float | None, direction: Direction = "increase"
) -> bool:
    """Whether a value passes its threshold; without one everything passes."""
    if threshold is None:
        return True
    return value >= threshold if direction == "increase" else value <= threshold


def svg(
    body: SafeString,
    *,
    height: float,
    width: float | str = "100%",
    label: str | None = None,
    links: bool = False,
) -> SafeString:
    """The frame of a chart: a picture with a sentence, or a group of links."""
    size = width if isinstance(width, str) else figure(width)
    opening = format_html(
        '<svg class="viz" width="{}" height="{}"', size, figure(height)
    )
    if label is None:
        naming = SafeString(' aria-hidden="true"')
    else:
        role = "group" if links else "img"
        naming = format_html(' role="{}" aria-label="{}"', role, label)
    return format_html("{}{}>{}</svg>", opening, naming, body)


def rect(classes: str, *, height: float, **places: float | str) -> SafeString:
    """A rectangle; places are x, y, width and rx."""
    attributes = format_html_join(
        "",
        ' {}="{}"',
        (
            (name, place if isinstance(place, str) else figure(place))
            for name, place in places.items()
        ),
    )
    return format_html(
        '<rect class="{}"{} height="{}"/>', classes, attributes, figure(height)
    )


def percent(value: float) -> str:
    return f"{figure(value)}%"


def linked(shape: SafeString, link: str | None, name: str) -> SafeString:
    """A shape inside a link with a name, or alone with a tooltip."""
    if link:
        return format_html('<a href="{}" aria-label="{}">{}</a>', link, name, shape)
    return shape


def histogram(
    bins: Sequence[tuple[str, int]],
    *,
    label: str,
    kind: Kind = "ordinal",
    links: Links | None = None,
    threshold: float | None = None,
    minimum: float = 0,
    maximum: float = 1,
    direction: Direction = "increase",
) -> SafeString:
    """The distribution of one score; `bins` are (name, count) from low to high.

    Ordinal bins take the colours of the score scale and carry their names.
    Continuous bins lie between `minimum` and `maximum`; those that fail the
    threshold are marked, and the threshold is a dashed line with its number.
    """
    if not bins:
        return NOTHING
    most = max(count for _name, count in bins) or 1
    total = sum(count for _name, count in bins)
    slot = 100 / len(bins)
    gap = slot * (0.05 if kind == "ordinal" else 0.04)
    bars: list[SafeString] = []
    for place, (name, count) in enumerate(bins):
        tall = max(LEAST_BAR, 34 * count / most) if count else 0
        x = percent(slot * place + gap)
        wide = percent(slot - 2 * gap)
        if kind == "ordinal":
            classes = f"s{score_band(place, len(bins), direction)}"
        else:
            failing = fails_whole(
                place, len(bins), threshold, minimum, maximum, direction
            )
            classes = "bar bad" if failing else "bar"
        bar = format_html(
            '<rect class="{}" x="{}" y="{}" width="{}" height="{}" rx="1.5">'
            "<title>{}</title></rect>",
            classes,
            x,
            figure(PLOT_HEIGHT - tall),
            wide,
            figure(tall),
            _("%(name)s: %(count)d of %(total)d rows")
            % {"name": name, "count": count, "total": total},
        )
        link = links[place] if links and count else None
        if link:
            hit = rect("hit", x=x, y=0, width=wide, height=PLOT_HEIGHT)
            bar = format_html("{}{}", hit, bar)
        bars.append(linked(bar, link, rows_with_score(count, name)))
    base = format_html(
        '<line class="axis" x1="0" x2="100%" y1="{0}" y2="{0}"/>', PLOT_HEIGHT
    )
    ticks = (
        ordinal_ticks([name for name, _count in bins])
        if kind == "ordinal"
        else continuous_ticks(threshold, minimum, maximum)
    )
    sentence = ", ".join(f"{name}: {count}" for name, count in bins)
    return svg(
        format_html("{}{}{}", join(bars), base, ticks),
        height=CHART_HEIGHT,
        label=f"{label}: {sentence}",
        links=bool(links),
    )


def score_band(place: int, bins: int, direction: Direction = "increase") -> int:
    """The colour of a level on the five-step score scale; 5 is the best."""
    if bins < 2:
        return 5
    band = 1 + round(4 * place / (bins - 1))
    return band if direction == "increase" else 6 - band


def fails_whole(
    place: int,
    bins: int,
    threshold: float | None,
    minimum: float,
    maximum: float,
    direction: Direction,
) -> bool:
    """Whether every value inside a bin misses the threshold."""
    if threshold is None:
        return False
    step = (maximum - minimum) / bins
    if direction == "increase":
        return minimum + step * (place + 1) <= threshold + 1e-9
    return minimum + step * place >= threshold - 1e-9


def ordinal_ticks(names: Sequence[str]) -> SafeString:
    slot = 100 / len(names)
    return format_html_join(
        "",
        '<text x="{}" y="48" text-anchor="middle">{}</text>',
        ((percent(slot * (place + 0.5)), name) for place, name in enumerate(names)),
    )


def continuous_ticks(
    threshold: float | None, minimum: float, maximum: float
) -> SafeString:
    ends = format_html(
        '<text x="0" y="48">{}</text><text x="100%" y="48" text-anchor="end">{}</text>',
        figure(minimum),
        figure(maximum),
    )
    if threshold is None:
        return ends
    at = 100 * part(threshold, minimum, maximum)
    line = format_html(
        '<line class="thr" x1="{0}" x2="{0}" y1="0" y2="{1}"/>',
        percent(at),
        PLOT_HEIGHT,
    )
    if not 8 < at < 92:
        return format_html("{}{}", line, ends)
    return format_html(
        '{}{}<text x="{}" y="48" text-anchor="middle">{}</text>',
        line,
        ends,
        percent(at),
        f"{threshold:.2f}",
    )


def likert(
    counts: Sequence[int], *, label: str, links: Links | None = None
) -> SafeString:
    """The shares of the levels of one dimension, lowest first, as one bar."""
    total = sum(counts)
    if not total:
        return svg(
            rect("track", width="100%", rx=2, height=20),
            height=20,
            label=_("%(label)s: no scores") % {"label": label},
        )
    pieces: list[SafeString] = []
    left = 0.0
    for place, count in enumerate(counts):
        wide = 100 * count / total
        if count:
            band = score_band(place, len(counts))
            name = str(place + 1)
            bar = format_html(
                '<rect class="s{}" x="{}" width="{}" height="20" rx="2">'
                "<title>{}</title></rect>",
                band,
                percent(left),
                percent(max(0.3, wide - 0.35)),
                rows_with_score(count, name),
            )
            link = links[place] if links else None
            pieces.append(linked(bar, link, rows_with_score(count, name)))
            if wide >= LABEL_FROM:
                pieces.append(
                    format_html(
                        '<text class="seg-{}" x="{}" y="14" text-anchor="middle">'
                        "{}</text>",
                        "t" if band in (1, 5) else "d",
                        percent(left + wide / 2),
                        count,
                    )
                )
        left += wide
    sentence = ", ".join(
        rows_with_score(count, str(place + 1)) for place, count in enumerate(counts)
    )
    return svg(join(pieces), height=20, label=f"{label}: {sentence}", links=bool(links))


def stacked_bar(
    passed: int,
    failed: int,
    errors: int = 0,
    not_applicable: int = 0,
    *,
    width: float | str = "100%",
    height: float = 10,
    label: str | bool = True,
) -> SafeString:
    """Passed, failed, errors and not applicable side by side.

    `label` is the sentence for assistive technology; True writes it from the
    counts, False hides the picture because the numbers stand beside it.
    """
    total = passed + failed + errors + not_applicable
    sentence = outcome_sentence(passed, failed, errors, not_applicable)
    if label is not True:
        sentence = label or ""
    whole = 100.0 if isinstance(width, str) else float(width)
    space = whole * (0.005 if isinstance(width, str) else 0.02)
    place: Callable[[float], str] = percent if isinstance(width, str) else figure
    pieces: list[SafeString] = []
    left = 0.0
    for name, count in (
        ("pass", passed),
        ("fail", failed),
        ("warn", errors),
        ("na", not_applicable),
    ):
        if not count:
            continue
        wide = whole * count / total
        last = left + wide > whole - 1e-6
        drawn = max(space, wide - (0 if last else space))
        pieces.append(
            rect(f"fill-{name}", x=place(left), width=place(drawn), rx=2, height=height)
        )
        left += wide
    if not pieces:
        pieces.append(rect("track", width=place(whole), rx=2, height=height))
    return svg(join(pieces), height=height, width=width, label=sentence or None)


def outcome_sentence(passed: int, failed: int, errors: int, na: int = 0) -> str:
    """“188 passed, 46 failed, 6 errors”."""
    parts = [
        _("%(count)d passed") % {"count": passed},
        _("%(count)d failed") % {"count": failed},
    ]
    if errors:
        parts.append(
            ngettext("%(count)d error", "%(count)d errors", errors) % {"count": errors}
        )
    if na:
        parts.append(_("%(count)d not applicable") % {"count": na})
    return ", ".join(parts)


def interval_bar(
    value: float,
    low: float,
    high: float,
    *,
    label: str,
    minimum: float = 0,
    maximum: float = 1,
    threshold: float | None = None,
) -> SafeString:
    """A value with its interval on a scale, and a target line when there is one."""
    at, start, end = (100 * part(x, minimum, maximum) for x in (value, low, high))
    pieces = [
        rect("track", y=6, width="100%", rx=1, height=2),
        rect("ci", x=percent(start), y=4, width=percent(end - start), rx=3, height=6),
    ]
    if threshold is not None:
        pieces.append(
            format_html(
                '<line class="thr" x1="{0}" x2="{0}" y1="0" y2="14"/>',
                percent(100 * part(threshold, minimum, maximum)),
            )
        )
    pieces.append(
        format_html('<circle class="pt" cx="{}" cy="7" r="4.5"/>', percent(at))
    )
    return svg(join(pieces), height=14, label=label)


def rows_with_score(count: int, name: str) -> str:
    return ngettext(
        "%(count)d row with score %(name)s",
        "%(count)d rows with score %(name)s",
        count,
    ) % {"count": count, "name": name}


def join(pieces: Sequence[SafeString]) -> SafeString:
    return format_html_join("", "{}", ((piece,) for piece in pieces))
