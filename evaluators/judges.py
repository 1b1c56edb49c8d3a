"""Which models are good judges of rubrics: advice, never a rule.

The lists are those of Foundry's documentation (May 2026). A project may have its own in
`Project.settings["judge_guidance"]`: `{"recommended": […], "acceptable": […],
"not_recommended": […]}`. What a project says about a model comes first.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from workspace.models import Project

Guidance = Literal["recommended", "acceptable", "not_recommended", "unknown"]
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
    own = project.settings.get("judge_guidance")
    return guidance(model_name, own if isinstance(own, dict) else None)


def plain_name(model_name: str) -> str:
    """ "openai/GPT-4o-2024-08-06" → "gpt-4o"."""
    last = model_name.strip().lower().rpartition("/")[2]
    return _DATED.sub("", last)
