"""Room two: what a score is and how it comes about. Uses `data` only."""
