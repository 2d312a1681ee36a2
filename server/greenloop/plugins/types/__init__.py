"""Fixes errors of the project's type checker: the target `types:PATH:LINE`."""
