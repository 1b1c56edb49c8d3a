"""The kinds of findings, and what they mean to people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum

from assay.data.text import Sentence
from assay.data.text import gettext_noop as _


class FindingKind(IntEnum):
    EMPTY_REQUIRED = 1
    DUPLICATE = 2
    NEAR_DUPLICATE = 3
    MIXED_TYPES = 4
    LONG_ROW = 5
    BROKEN_MEDIUM = 6
    LEAKED_ANSWER = 7
    INJECTION = 8
    PERSONAL_DATA = 9
    LINK = 10


@dataclass(frozen=True, slots=True)
class Finding:
    """One questionable thing. `row` counts from 1; no `column` means the whole row."""

    kind: FindingKind
    row: int
    column: str | None
    detail: Sentence


@dataclass(frozen=True, slots=True)
class KindInfo:
    """`can_drop`: leaving the row out of a run is a sound answer to the finding."""

    slug: str
    label: Sentence
    why: Sentence
    advice: Sentence
    can_drop: bool


def _info(
    slug: str, label: str, why: str, advice: str, *, can_drop: bool = True
) -> KindInfo:
    return KindInfo(slug, Sentence(label), Sentence(why), Sentence(advice), can_drop)


KINDS: Mapping[FindingKind, KindInfo] = {
    FindingKind.EMPTY_REQUIRED: _info(
        "empty-required",
        _("Empty cell"),
        _("Evaluators that need this column leave the row out or fail on it."),
        _("Fill the cell, or drop the row."),
    ),
    FindingKind.DUPLICATE: _info(
        "duplicate",
        _("Duplicate row"),
        _("A repeated row counts twice and makes the result look more certain."),
        _("Drop the row. The first one stays."),
    ),
    FindingKind.NEAR_DUPLICATE: _info(
        "near-duplicate",
        _("Nearly the same row"),
        _("Rows that ask the same thing give that one thing more weight."),
        _("Compare both rows, and drop one if they ask the same."),
    ),
    FindingKind.MIXED_TYPES: _info(
        "mixed-types",
        _("Other type than the column"),
        _("A value of another type is compared and shown differently."),
        _("Correct the value in the file, or drop the row."),
    ),
    FindingKind.LONG_ROW: _info(
        "long-row",
        _("Very long text"),
        _("Many models cannot read a text of this length, and it is dear."),
        _("Shorten the text, or drop the row."),
    ),
    FindingKind.BROKEN_MEDIUM: _info(
        "broken-medium",
        _("Damaged picture or sound"),
        _("A model refuses the file or guesses what it holds."),
        _("Replace the file, or drop the row."),
    ),
    FindingKind.LEAKED_ANSWER: _info(
        "leaked-answer",
        _("Answer in the question"),
        _("The model can copy the answer, so that a pass shows nothing."),
        _("Take the answer out of the question, or drop the row."),
    ),
    FindingKind.INJECTION: _info(
        "injection",
        _("Text that gives orders to a model"),
        _("It may steer the model or the judge and so change the score."),
        _("Read the text. Keep the row only if it tests such an attack."),
    ),
    FindingKind.PERSONAL_DATA: _info(
        "personal-data",
        _("Personal data"),
        _("The text is sent to models and shown to everyone in the project."),
        _("Replace it by invented data, or drop the row."),
    ),
    FindingKind.LINK: _info(
        "link",
        _("Link in place of a file"),
        _("Links are not opened, so the model does not get the picture or sound."),
        _("Put the file itself into the dataset."),
        can_drop=False,
    ),
}
