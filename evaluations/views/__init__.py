"""Pages of this app, one file per noun."""
