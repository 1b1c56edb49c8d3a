"""The evaluation library: values in, values out; no Django, no clock, no network."""
