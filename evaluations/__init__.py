"""Wizard drafts, evaluations, runs and results."""
