"""Imports that a module lacks, and those that name what is elsewhere."""
