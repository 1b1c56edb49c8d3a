"""Who uses a model. Apps above register here."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from typing import NamedTuple

from targets.models import Deployment


class Use(NamedTuple):
    """One thing that uses a model now, with the address of its page."""

    label: str
    url: str


class RunLine(NamedTuple):
    """A run of a model: `state` is a status that `{% badge %}` knows."""

    label: str
    url: str
    state: str
    role: str
    created_at: dt.datetime


Finder = Callable[[Sequence[int]], list[tuple[str, str]]]
RunFinder = Callable[[Deployment], list[RunLine]]
_finders: list[Finder] = []
_run_finders: list[RunFinder] = []


def register(finder: Finder) -> None:
    """`finder` gets ids of models and gives (label, url) of open work with them."""
    if finder not in _finders:
        _finders.append(finder)


def uses_of(deployment_ids: Sequence[int]) -> list[Use]:
    """Open work that needs one of these models: they cannot be deleted meanwhile."""
    return [Use(*use) for finder in _finders for use in finder(deployment_ids)]


def register_runs(finder: RunFinder) -> None:
    """`finder` gives the latest runs of a model, as target or as judge."""
    if finder not in _run_finders:
        _run_finders.append(finder)


def runs_of(deployment: Deployment) -> list[RunLine] | None:
    """The latest runs of a model, newest first; None when nobody knows of runs."""
    if not _run_finders:
        return None
    lines = [line for finder in _run_finders for line in finder(deployment)]
    return sorted(lines, key=lambda line: line.created_at, reverse=True)
