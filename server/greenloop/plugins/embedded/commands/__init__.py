"""The command `greenloop model`."""
