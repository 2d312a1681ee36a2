"""The user's project: targets, files, interpreter, packages and settings."""
