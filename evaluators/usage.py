"""Who uses a version of an evaluator. Apps above register here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from evaluators.models import EvaluatorVersion


class Use(NamedTuple):
    """One run that uses a version, with the address of its page."""

    version: int
    label: str
    url: str


Finder = Callable[[Sequence[EvaluatorVersion]], list[Use]]
_finders: list[Finder] = []


def register(finder: Finder) -> None:
    """`finder` gets versions and gives what uses them, newest first."""
    if finder not in _finders:
        _finders.append(finder)


def uses_of(versions: Sequence[EvaluatorVersion]) -> list[Use]:
    return [use for finder in _finders for use in finder(versions)]
