"""Content-addressed media: stored once, named by their SHA-256."""
