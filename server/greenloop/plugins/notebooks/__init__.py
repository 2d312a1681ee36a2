"""Notebooks: targets in cells, for the command line, editors and Jupyter."""
