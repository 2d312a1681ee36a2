"""Runs related tests that a change can affect, and judges their failures."""
