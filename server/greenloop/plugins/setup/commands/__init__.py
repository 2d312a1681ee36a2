"""The command `greenloop setup`."""
