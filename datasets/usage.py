"""Who uses a dataset and what can be done with it. Apps above register here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from datasets.models import DatasetVersion


class Use(NamedTuple):
    """One thing that uses a version, with the address of its page."""

    label: str
    url: str


Finder = Callable[[Sequence[int]], list[tuple[str, str]]]
_finders: list[Finder] = []


def register(finder: Finder) -> None:
    """`finder` gets ids of versions and gives (label, url) of what uses them."""
    if finder not in _finders:
        _finders.append(finder)


def uses_of(version_ids: Sequence[int]) -> list[Use]:
    """Everything that uses one of these versions."""
    return [Use(*use) for finder in _finders for use in finder(version_ids)]


Action = Callable[[DatasetVersion], tuple[str, str] | None]
_actions: list[Action] = []


def register_action(action: Action) -> None:
    """`action` gives (label, url) of what a person can do with a ready version."""
    if action not in _actions:
        _actions.append(action)


def actions_for(version: DatasetVersion) -> list[Use]:
    """What apps above offer for a ready version. The first is the main one."""
    offered = [action(version) for action in _actions]
    return [Use(*found) for found in offered if found is not None]
