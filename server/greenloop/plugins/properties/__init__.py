"""Property tests and type hints as generated tests of a function that has only a docstring."""
