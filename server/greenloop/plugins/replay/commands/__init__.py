"""The command `greenloop export`."""
