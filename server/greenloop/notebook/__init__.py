"""Notebooks: turns cells into a module with tests, and writes changes back to the cells."""
