"""The five steps of the wizard: reading what was posted, and what a page shows."""
