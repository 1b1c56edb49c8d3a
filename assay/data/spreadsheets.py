"""Cells that no spreadsheet takes for a formula."""

from __future__ import annotations

from assay.data.jsonx import JSON

DANGEROUS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def safe_cell(value: JSON) -> JSON:
    """`value` with an apostrophe before a text that would be run. Numbers stay."""
    if isinstance(value, str) and value.startswith(DANGEROUS):
        return f"'{value}"
    return "" if value is None else value
