"""Docstrings: sections, examples in prose, statements and ambiguities."""
