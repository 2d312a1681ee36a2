"""The command `greenloop improve`."""
