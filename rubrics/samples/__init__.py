"""The rubric that a person can start from."""

from __future__ import annotations

from pathlib import Path

RESTAURANT_NAME = "booking-quality"
RESTAURANT_DESCRIPTION = (
    "How well an assistant books, changes and cancels tables in a restaurant."
)


def restaurant_json() -> str:
    """The dimensions as JSON text."""
    return (Path(__file__).parent / "restaurant.json").read_text("utf-8")
