"""What changed between two versions of a dataset: rows and columns."""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass, field
from typing import NamedTuple

from datasets.models import DatasetVersion, Row


class Place(NamedTuple):
    """A row by its index in the older and in the newer version; 0: not there."""

    old: int
    new: int


@dataclass(slots=True)
class Comparison:
    """`places` are the rows that differ, in the order of the newer version."""

    columns_added: list[str] = field(default_factory=list)
    columns_removed: list[str] = field(default_factory=list)
    kept: int = 0
    places: list[Place] = field(default_factory=list)

    @property
    def changed(self) -> int:
        return sum(bool(place.old and place.new) for place in self.places)

    @property
    def added(self) -> int:
        return sum(not place.old for place in self.places)

    @property
    def removed(self) -> int:
        return sum(not place.new for place in self.places)


def compare(old: DatasetVersion, new: DatasetVersion) -> Comparison:
    """Rows are the same when their content is, wherever they stand. A row that is only
    in one version counts as changed when the other has one in the same gap between
    rows that are in both, else as added or removed. 2 queries."""
    old_names = [str(column["name"]) for column in old.columns]
    new_names = [str(column["name"]) for column in new.columns]
    found = Comparison(
        columns_added=[name for name in new_names if name not in old_names],
        columns_removed=[name for name in old_names if name not in new_names],
    )
    before, after = _digests(old), _digests(new)
    same = _same_rows(before, after)
    found.kept = len(same)
    found.places = _places(len(before), len(after), same)
    return found


def _digests(version: DatasetVersion) -> list[str]:
    rows = Row.objects.filter(version=version).order_by("index")
    return list(rows.values_list("digest", flat=True))


def _same_rows(before: list[str], after: list[str]) -> dict[int, int]:
    """New index → old index of equal rows, each used once, earlier ones first."""
    waiting: dict[str, deque[int]] = defaultdict(deque)
    for index, digest in enumerate(before, start=1):
        waiting[digest].append(index)
    return {
        index: waiting[digest].popleft()
        for index, digest in enumerate(after, start=1)
        if waiting.get(digest)
    }


def _places(old_count: int, new_count: int, same: dict[int, int]) -> list[Place]:
    """The rows that differ. A gap is named by the row of the old version before it."""
    used = set(same.values())
    gaps: dict[int, deque[int]] = defaultdict(deque)
    last = 0
    for index in range(1, old_count + 1):
        if index in used:
            last = index
        else:
            gaps[last].append(index)
    places: list[Place] = []
    last = 0
    for index in range(1, new_count + 1):
        if index in same:
            places += [Place(old, 0) for old in gaps.pop(last, ())]
            last = same[index]
        else:
            gap = gaps.get(last)
            places.append(Place(gap.popleft() if gap else 0, index))
    left = [old for gap in gaps.values() for old in gap]
    return places + [Place(old, 0) for old in sorted(left)]
