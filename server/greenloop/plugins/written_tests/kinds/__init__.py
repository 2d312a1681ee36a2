"""Tests that a model writes from a docstring."""
