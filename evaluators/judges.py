"""Which models are good judges of rubrics: advice, never a rule.

The lists are those of Foundry's documentation (May 2026). A project may have its own in
`Project.settings["judge_guidance"]`: `{"recommended": […], "acceptable": […],
"not_recommended": […]}`. What a project says about a model comes first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from django.db import transaction
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from workspace.models import Project

Guidance = Literal["recommended", "acceptable", "not_recommended", "unknown"]
SETTING = "judge_guidance"
LEVELS: tuple[Guidance, ...] = ("recommended", "acceptable", "not_recommended")
DEFAULTS: dict[Guidance, tuple[str, ...]] = {
    "recommended": (
        "gpt-5.5",
        "gpt-5.4",
        "gpt-5.4-nano",
        "gpt-5.4-mini",
        "gpt-5.2",
    ),
    "acceptable": ("grok-4", "claude-opus-4.7", "gpt-4.1"),
    "not_recommended": ("gpt-4o", "gpt-4o-mini"),
}
WORDS: dict[Guidance, str | Promise] = {
    "recommended": gettext_lazy("Recommended as a judge."),
    "acceptable": gettext_lazy("Acceptable as a judge; there are better ones."),
    "not_recommended": gettext_lazy(
        "Not recommended as a judge: its scores agree less with people."
    ),
    "unknown": gettext_lazy(
        "How well this model judges is not known. Compare it with people's labels."
    ),
}
_DATED = re.compile(r"-(\d{4}-\d{2}-\d{2}|\d{8}|latest|preview)$")


def guidance(model_name: str, own: Mapping[str, Any] | None = None) -> Guidance:
    """What is said of the model; a provider before it and a date after it are left
    out. `own` are a project's lists."""
    name = plain_name(model_name)
    for lists in (own or {}, DEFAULTS):
        for level in LEVELS:
            known = lists.get(level)
            if isinstance(known, (list, tuple)) and any(
                plain_name(str(entry)) == name for entry in known
            ):
                return level
    return "unknown"


def guidance_in(project: Project, model_name: str) -> Guidance:
    own = project.settings.get(SETTING)
    return guidance(model_name, own if isinstance(own, dict) else None)


def lists_of(project: Project) -> dict[Guidance, list[str]]:
    """The lists that count in a project: its own where it has one, else the usual."""
    own = project.settings.get(SETTING)
    if not isinstance(own, dict):
        own = {}
    return {level: list(own.get(level, DEFAULTS[level])) for level in LEVELS}


def set_lists(project: Project, lists: Mapping[str, Iterable[str]]) -> None:
    """Give a project lists of its own; without any names, the usual ones again."""
    own = {level: [name for name in lists.get(level, ()) if name] for level in LEVELS}
    with transaction.atomic():
        current = Project.objects.select_for_update().get(pk=project.pk)
        if any(own.values()):
            current.settings[SETTING] = own
        else:
            current.settings.pop(SETTING, None)
        current.save(update_fields=["settings"])
    project.settings = current.settings


def plain_name(model_name: str) -> str:
    """ "openai/GPT-4o-2024-08-06" → "gpt-4o"."""
    last = model_name.strip().lower().rpartition("/")[2]
    return _DATED.sub("", last)
