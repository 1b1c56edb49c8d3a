"""Room one: reading, naming and carrying data."""
