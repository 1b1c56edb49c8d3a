"""Room three: mapping, planning and running. Uses `data` and `scoring`."""
