"""Judges a pass beyond its tests: other inputs, special-casing, mutants."""
