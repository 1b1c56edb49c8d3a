"""Where evaluators that people make have their pages. Apps above register here."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from django.utils.functional import Promise

from evaluators.models import Evaluator
from workspace.models import Project


class OpenDraft(NamedTuple):
    """Something that a person began to write, with the address to go on."""

    label: str
    url: str
    by: str
    updated_at: dt.datetime


@dataclass(frozen=True, slots=True)
class Workshop:
    """What the app that makes evaluators of a kind offers to the catalogue.

    `page` gives the address of an evaluator, of its newest version without a number.
    `actions` are (label, name of the address) of the ways to make one; the last is
    the main one.
    """

    page: Callable[[Evaluator, int | None], str]
    drafts: Callable[[Project], list[OpenDraft]]
    actions: list[tuple[str | Promise, str]]


_workshops: dict[str, Workshop] = {}


def register(kind: str, workshop: Workshop) -> None:
    _workshops[kind] = workshop


def workshop_of(kind: str) -> Workshop | None:
    return _workshops.get(kind)


def address_of(evaluator: Evaluator, number: int | None = None) -> str:
    """The page of an evaluator or of one of its versions; "" when it has none."""
    workshop = _workshops.get(evaluator.kind)
    return workshop.page(evaluator, number) if workshop else ""


def actions() -> list[tuple[str | Promise, str]]:
    return [action for workshop in _workshops.values() for action in workshop.actions]


def open_drafts(project: Project) -> list[OpenDraft]:
    return [d for workshop in _workshops.values() for d in workshop.drafts(project)]
