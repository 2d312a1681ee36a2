"""Runs code that passes on other inputs than its tests have, and looks for signs that it is unfinished."""
