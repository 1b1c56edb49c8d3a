"""What runs gave for a rubric. Apps above register here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from assay.scoring.rubric.spec import Normalization
from evaluators.models import Evaluator, EvaluatorVersion


@dataclass(frozen=True, slots=True)
class PastRun:
    """A finished run of a version of the rubric.

    `scores` are those of its primary metric, 0 to 1, without rows that have none.
    `threshold` is the one the run was judged by, `normalization` that of its version.
    """

    label: str
    url: str
    scores: Sequence[float]
    threshold: float
    normalization: Normalization = "ratio"
    is_simulated: bool = False


Finder = Callable[[Evaluator], PastRun | None]
RowFinder = Callable[[EvaluatorVersion, int, Sequence[int]], dict[int, float]]
_finders: list[Finder] = []
_page_makers: list[PageMaker] = []
_row_finders: list[RowFinder] = []


def register(finder: Finder) -> None:
    """`finder` gives the newest finished run of any version of an evaluator."""
    if finder not in _finders:
        _finders.append(finder)


def register_rows(finder: RowFinder) -> None:
    """`finder` gets a version, the id of a dataset version and row indexes; it gives
    the newest scores of a run for them, by index."""
    if finder not in _row_finders:
        _row_finders.append(finder)


@dataclass(frozen=True, slots=True)
class MorePage:
    """A page about a rubric that belongs to an app above, as one of its tabs."""

    label: str
    url: str
    count: int


PageMaker = Callable[[Evaluator], MorePage]


def register_page(maker: PageMaker) -> None:
    if maker not in _page_makers:
        _page_makers.append(maker)


def pages_of(evaluator: Evaluator) -> list[MorePage]:
    return [maker(evaluator) for maker in _page_makers]


def newest_run(evaluator: Evaluator) -> PastRun | None:
    for finder in _finders:
        found = finder(evaluator)
        if found is not None and found.scores:
            return found
    return None


def row_scores(
    version: EvaluatorVersion, dataset_version: int, indexes: Sequence[int]
) -> dict[int, float]:
    scores: dict[int, float] = {}
    for finder in _row_finders:
        scores |= finder(version, dataset_version, indexes)
    return scores
