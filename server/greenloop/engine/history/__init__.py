"""History of runs."""
