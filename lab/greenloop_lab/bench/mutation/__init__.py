"""Breaks correct functions: the ways to break a line, and the tasks that come of it."""
