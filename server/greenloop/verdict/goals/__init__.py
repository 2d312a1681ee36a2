"""Costs before and after a change: time, memory, lines."""
