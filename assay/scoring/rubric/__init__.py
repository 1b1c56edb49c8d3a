"""Rubrics: weighted dimensions that a judge scores and code adds up."""

from __future__ import annotations

from assay.scoring.rubric.spec import Dimension, RubricSpec

__all__ = ["Dimension", "RubricSpec"]
