"""The base of the documents of this room."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Frozen(BaseModel):
    """Immutable, refuses unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")
