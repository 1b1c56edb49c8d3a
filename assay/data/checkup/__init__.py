"""Finds rows of a dataset that are worth a look before anything is measured.

Give every row to `Checkup.add`, then take what needs all rows from `Checkup.end`.
A finding is a question to a person, never a verdict: where a rule is not sure, it
says nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.data.checkup.kinds import KINDS, Finding, FindingKind, KindInfo

if TYPE_CHECKING:
    from assay.data.checkup.checkup import Checkup

__all__ = ["KINDS", "Checkup", "Finding", "FindingKind", "KindInfo"]


def __getattr__(name: str) -> object:
    """`Checkup` when first asked for: pages that only name kinds do without numpy."""
    if name != "Checkup":
        raise AttributeError(name)
    from assay.data.checkup.checkup import Checkup

    return Checkup
