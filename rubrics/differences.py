"""What differs between two versions of a rubric, in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from assay.scoring.rubric.spec import Dimension, RubricSpec, simple_id

NAMES: dict[str, str | Promise] = {
    "pass_threshold": gettext_lazy("Pass threshold"),
    "normalization": gettext_lazy("Score"),
    "fail_on_any_1": gettext_lazy("Fail when any dimension scores 1"),
    "scoring": gettext_lazy("Scoring"),
    "category": gettext_lazy("Category"),
    "level": gettext_lazy("Level"),
    "one_call_per_dimension": gettext_lazy("One call per dimension"),
}
WORDS: dict[object, str | Promise] = {
    "ratio": gettext_lazy("mean divided by 5"),
    "minmax": gettext_lazy("mean minus 1, divided by 4"),
    "likert": gettext_lazy("1 to 5"),
    "boolean": gettext_lazy("pass or fail"),
    "quality": gettext_lazy("Quality"),
    "safety": gettext_lazy("Safety"),
    "turn": gettext_lazy("single responses"),
    "conversation": gettext_lazy("whole conversations"),
    True: gettext_lazy("yes"),
    False: gettext_lazy("no"),
    None: gettext_lazy("none"),
}


@dataclass(frozen=True, slots=True)
class Change:
    """One value before and after."""

    name: str | Promise
    before: str | Promise
    after: str | Promise


@dataclass(frozen=True, slots=True)
class DimensionChange:
    """A dimension that stays. `old_id` is set when it was renamed."""

    id: str
    old_id: str = ""
    old_description: str = ""
    description: str = ""
    changes: list[Change] = field(default_factory=list)

    @property
    def is_reworded(self) -> bool:
        return self.old_description != self.description


@dataclass(frozen=True, slots=True)
class Difference:
    """From one rubric to another."""

    added: list[Dimension]
    removed: list[Dimension]
    changed: list[DimensionChange]
    settings: list[Change]
    is_reordered: bool

    @property
    def is_none(self) -> bool:
        return not (self.added or self.removed or self.changed or self.settings) and (
            not self.is_reordered
        )


def between(old: RubricSpec, new: RubricSpec) -> Difference:
    """Dimensions are the same by their key, without one by their id."""
    pairs = list(_pairs(old, new))
    kept_old = [before for before, _after in pairs]
    kept_new = [after for _before, after in pairs]
    order = [new.dimensions.index(after) for _before, after in pairs]
    return Difference(
        added=[d for d in new.dimensions if d not in kept_new],
        removed=[d for d in old.dimensions if d not in kept_old],
        changed=[change for pair in pairs if (change := _changed(*pair)) is not None],
        settings=list(_settings(old, new)),
        is_reordered=order != sorted(order),
    )


def _pairs(old: RubricSpec, new: RubricSpec) -> Iterator[tuple[Dimension, Dimension]]:
    """Pairs in the order of `old`."""
    by_key = {d.key: d for d in new.dimensions if d.key}
    old_keys = {d.key for d in old.dimensions}
    free = {simple_id(d.id): d for d in new.dimensions if d.key not in old_keys}
    for before in old.dimensions:
        after = by_key.get(before.key) or free.pop(simple_id(before.id), None)
        if after is not None:
            yield before, after


def _changed(before: Dimension, after: Dimension) -> DimensionChange | None:
    changes = [
        Change(name, _words(getattr(before, key)), _words(getattr(after, key)))
        for key, name in (
            ("weight", _("Weight")),
            ("always_applicable", _("Always applies")),
            ("allowed", _("Allowed")),
        )
        if getattr(before, key) != getattr(after, key)
    ]
    renamed = before.id != after.id
    if not (changes or renamed or before.description != after.description):
        return None
    return DimensionChange(
        id=after.id,
        old_id=before.id if renamed else "",
        old_description=before.description,
        description=after.description,
        changes=changes,
    )


def _settings(old: RubricSpec, new: RubricSpec) -> Iterator[Change]:
    for key, name in NAMES.items():
        before, after = getattr(old, key), getattr(new, key)
        if before != after:
            yield Change(name, _words(before), _words(after))


def _words(value: object) -> str | Promise:
    if isinstance(value, (bool, str)) or value is None:
        return WORDS.get(value, str(value))
    return f"{value:g}" if isinstance(value, float) else str(value)
