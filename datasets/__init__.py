"""Datasets: upload, immutable versions, rows."""
