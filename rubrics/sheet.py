"""The editor's sheet: a document with shares, messages and sentences beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from django.utils.translation import gettext as _

from assay.data.text import Sentence
from assay.scoring.rubric.spec import (
    HIGHEST,
    LEAST_WEIGHT,
    LOWEST,
    MOST_WEIGHT,
    RubricProblem,
    RubricSpec,
)
from rubrics.documents import (
    DimensionText,
    Document,
    residual_of,
    threshold_of,
    whole_number,
)
from workspace.sentences import say


@dataclass(slots=True)
class Line:
    """A dimension on the sheet. `share` is its part of the total weight, 0 to 1."""

    typed: DimensionText
    number: int
    share: float | None
    errors: dict[str, str] = field(default_factory=dict)
    is_first: bool = False
    is_last: bool = False

    @property
    def label(self) -> str:
        return self.typed.id or _("dimension %(number)d") % {"number": self.number}

    @property
    def place(self) -> str:
        return _("Dimension %(number)d") % {"number": self.number}

    @property
    def percent(self) -> str:
        return "" if self.share is None else f"{100 * self.share:.0f}%"


@dataclass(slots=True)
class Sheet:
    """`errors` are messages at fields of the rubric itself; `problems` lists all."""

    document: Document
    spec: RubricSpec | None
    lines: list[Line]
    total: int
    errors: dict[str, str]
    problems: list[dict[str, str]]

    @property
    def residual(self) -> DimensionText | None:
        return residual_of(self.document) if self.lines else None

    @property
    def is_weighted(self) -> bool:
        return not self.document.is_checklist and any(
            line.typed.weight.strip() for line in self.lines
        )

    @property
    def slider(self) -> str:
        """The threshold as the slider takes it."""
        value = threshold_of(self.document)
        return f"{0.5 if value is None else value:.2f}"

    @property
    def threshold_words(self) -> str:
        return threshold_words(self.document, is_weighted=self.is_weighted)


def sheet_of(
    document: Document, spec: RubricSpec | None, found: Sequence[RubricProblem]
) -> Sheet:
    """No query."""
    shares = weight_shares(document)
    last = len(document.dimensions) - 1
    lines = [
        Line(d, n + 1, shares[n], is_first=n == 0, is_last=n == last)
        for n, d in enumerate(document.dimensions)
    ]
    errors: dict[str, str] = {}
    problems = []
    for problem in found:
        if problem.position is None:
            text, href = say(problem.sentence), f"#{problem.field}"
            errors.setdefault(problem.field, text)
        else:
            line = lines[problem.position]
            text = _said(problem, line)
            line.errors.setdefault(problem.field, text)
            href = f"#{problem.field}-{line.typed.key}"
            if "name" not in problem.sentence.params:
                text = f"{line.place}: {text}"
        problems.append({"text": text, "href": href})
    total = sum(_counted(d) or 0 for d in document.dimensions)
    return Sheet(document, spec, lines, total, errors, problems)


def _said(problem: RubricProblem, line: Line) -> str:
    """The sentence; a dimension without an id is called by its place."""
    sentence = problem.sentence
    if "name" in sentence.params:
        named = {**sentence.params, "name": line.typed.id or line.place}
        sentence = Sentence(sentence.message, named)
    return say(sentence)


def weight_shares(document: Document) -> list[float | None]:
    """The part of the total that each dimension has; None where it has no weight."""
    weights = [_counted(dimension) for dimension in document.dimensions]
    total = sum(weight or 0 for weight in weights)
    if document.is_checklist or not total:
        return [None] * len(weights)
    return [None if weight is None else weight / total for weight in weights]


def _counted(dimension: DimensionText) -> int | None:
    weight = whole_number(dimension.weight) if dimension.weight.strip() else None
    if weight is None or not LEAST_WEIGHT <= weight <= MOST_WEIGHT:
        return None
    return weight


def threshold_words(document: Document, *, is_weighted: bool) -> str:
    """How a score is made, and which mean the threshold stands for."""
    if document.is_checklist:
        return _("A row passes when every check that applies passes.")
    value = threshold_of(document)
    minmax = document.normalization == "minmax"
    if minmax and is_weighted:
        text = _("A score is the weighted mean minus 1, divided by 4.")
    elif minmax:
        text = _("A score is the mean minus 1, divided by 4.")
    elif is_weighted:
        text = _("A score is the weighted mean divided by 5.")
    else:
        text = _("A score is the mean divided by 5.")
    if value is None:
        return text
    mean = value * (HIGHEST - LOWEST) + LOWEST if minmax else value * HIGHEST
    means = _("%(threshold)s is a mean of %(mean)s.") % {
        "threshold": f"{value:.2f}",
        "mean": f"{mean:.2f}".rstrip("0").rstrip(".") if mean % 1 else f"{mean:.1f}",
    }
    return f"{text} {means}"
