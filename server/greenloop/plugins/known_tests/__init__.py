"""Tests that earlier runs have measured and traced."""
