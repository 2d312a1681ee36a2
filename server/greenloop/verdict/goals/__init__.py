"""Measures the costs of code before and after a change: time, memory, lines."""
