"""The navigation: each app registers its own entries in its `apps.py`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _


@dataclass(frozen=True, slots=True)
class Entry:
    """`area` is the first part of the address below the project."""

    order: int
    group: str
    label: str | Promise
    icon: str
    url_name: str
    area: str


GROUPS: dict[str, str | Promise] = {
    "": "",
    "targets": _("Targets"),
    "production": _("Production"),
}
_entries: dict[str, Entry] = {}


def register(entry: Entry) -> None:
    _entries[entry.area] = entry


def navigation(project_slug: str, path: str) -> list[dict[str, Any]]:
    """Groups with their entries; the one that `path` lies in is marked current."""
    area = path.removeprefix(f"/p/{project_slug}/").split("/", 1)[0]
    groups = []
    for key, label in GROUPS.items():
        items = [
            {
                "label": entry.label,
                "icon": entry.icon,
                "url": reverse(entry.url_name, args=[project_slug]),
                "current": entry.area == area,
            }
            for entry in sorted(_entries.values(), key=lambda e: e.order)
            if entry.group == key
        ]
        if items:
            groups.append({"label": label, "items": items})
    return groups
