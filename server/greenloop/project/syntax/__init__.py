"""Outlines of Python texts, also of those with syntax errors."""
