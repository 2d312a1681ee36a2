"""The feedback part of `greenloop improve`."""
