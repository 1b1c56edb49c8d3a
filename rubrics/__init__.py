"""Rubrics: written, generated, tried, versioned. Their arithmetic is in the library."""
