"""Stored runs as rows that others can learn from."""
