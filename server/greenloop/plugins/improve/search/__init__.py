"""The search of `greenloop improve`."""
