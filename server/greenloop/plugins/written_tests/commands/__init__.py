"""The command of stored tests."""
