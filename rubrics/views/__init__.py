"""Pages of rubrics."""

from __future__ import annotations
