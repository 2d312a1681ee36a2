"""Test files of the project: rendering, naming, imports and appending of tests."""
