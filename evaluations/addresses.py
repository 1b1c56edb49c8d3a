"""Addresses of pages."""

from __future__ import annotations

from django.urls import reverse

from evaluations.models import Run


def run_url(run: Run) -> str:
    """The page of a run. Needs its evaluation with project."""
    evaluation = run.evaluation
    return reverse("run", args=[evaluation.project.slug, evaluation.slug, run.number])
