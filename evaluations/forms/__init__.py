"""Forms of this app, one file per noun."""
