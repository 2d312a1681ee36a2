"""Examples in the prose of docstrings and comments."""
