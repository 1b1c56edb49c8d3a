"""Numbers, times and sizes as people read them. Pure functions, no markup."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

Number = int | float | Decimal

PREVIEW_LENGTH = 200
NOTHING = "–"


def share(part: int, total: int) -> str:
    """The share of `part` in `total`, with one decimal: “80.3%”."""
    if not total:
        return NOTHING
    return f"{100 * part / total:.1f}%"


def compact_number(value: Number | None) -> str:
    """A large count in three figures: 1,184, then 214 k, then 2.31 M."""
    if value is None:
        return NOTHING
    count = float(value)
    if abs(count) < 10_000:
        return f"{count:,.0f}"
    if abs(count) < 999_500:
        return f"{count / 1000:,.0f} k"
    if abs(count) < 999_995_000:
        return f"{count / 1_000_000:,.2f} M"
    return f"{count / 1_000_000_000:,.2f} G"


def duration(seconds: Number | None) -> str:
    """A span of time in its two largest units: “11 min 38 s”."""
    if seconds is None:
        return NOTHING
    span = float(seconds)
    if span and span < 0.1:
        return f"{span * 1000:.0f} ms"
    if span < 9.95:
        return f"{span:.1f} s".replace(".0 ", " ")
    whole = round(span)
    units: tuple[tuple[str, int], ...] = (
        ("d", 86_400),
        ("h", 3_600),
        ("min", 60),
        ("s", 1),
    )
    parts: list[str] = []
    for name, size in units:
        count, whole = divmod(whole, size)
        if count:
            parts.append(f"{count} {name}")
        elif parts:
            break
    return " ".join(parts[:2])


def clock(seconds: Number | None) -> str:
    """The length of a recording: “0:07”, “12:30”, “1:02:05”."""
    whole = round(float(seconds or 0))
    hours, rest = divmod(whole, 3600)
    minutes, left = divmod(rest, 60)
    if hours:
        return f"{hours}:{minutes:02}:{left:02}"
    return f"{minutes}:{left:02}"


def money(amount: Number | None) -> str:
    """Dollars with cents; an amount below one cent is “< $0.01”."""
    if amount is None:
        return NOTHING
    if 0 < amount < Decimal("0.005"):
        return "< $0.01"
    sign = "−" if amount < 0 else ""
    return f"{sign}${abs(amount):,.2f}"


def rounded(value: Number, decimals: int = 2) -> str:
    """A number with a true minus sign and no minus zero: “0.06”, “−0.10”."""
    text = f"{float(value):.{decimals}f}"
    return text.replace("-", "−" if float(text) else "")


def signed(value: Number | None, decimals: int = 2) -> str:
    """A change with a plus or a true minus sign: “+0.06”, “−0.10”."""
    if value is None:
        return NOTHING
    text = f"{abs(value):.{decimals}f}"
    if float(text) == 0:
        return text
    return f"{'−' if value < 0 else '+'}{text}"


def filesize(size: int | None) -> str:
    """Bytes with the unit that keeps the number short: 96 KB, 18.4 MB."""
    if size is None:
        return NOTHING
    if size < 1000:
        return ngettext("%(count)d byte", "%(count)d bytes", size) % {"count": size}
    value = float(size)
    for unit in ("KB", "MB", "GB", "TB"):
        value /= 1024
        if value < 999.5 or unit == "TB":
            break
    text = f"{value:.1f}" if unit != "KB" and value < 100 else f"{value:.0f}"
    return f"{text} {unit}"


def moment(value: dt.datetime, *, now: dt.datetime | None = None) -> str:
    """A point in time as a person says it: “Today, 09:12”, “26 Nov, 15:21”."""
    local = timezone.localtime(value)
    today = timezone.localtime(now or timezone.now()).date()
    hour = f"{local:%H:%M}"
    if local.date() == today:
        return _("Today, %(time)s") % {"time": hour}
    if local.date() == today - dt.timedelta(days=1):
        return _("Yesterday, %(time)s") % {"time": hour}
    if local.year == today.year:
        return f"{date_format(local, 'j M')}, {hour}"
    return date_format(local, "j M Y")


def ago(value: dt.datetime, *, now: dt.datetime | None = None) -> str:
    """The same within the last hour as “12 min ago”, else as `moment`."""
    passed = (now or timezone.now()) - value
    minutes = int(passed.total_seconds() // 60)
    if minutes < 0 or minutes >= 60:
        return moment(value, now=now)
    if minutes == 0:
        return _("Just now")
    return _("%(minutes)d min ago") % {"minutes": minutes}


def preview(value: object, length: int = PREVIEW_LENGTH) -> str:
    """One line of plain text, cut with an ellipsis."""
    text = " ".join(str(value).split()) if value is not None else ""
    return text if len(text) <= length else f"{text[: length - 1].rstrip()}…"
