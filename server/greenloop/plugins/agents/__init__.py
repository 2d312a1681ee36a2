"""Agents: greenloop as tools for them, and as one in an editor."""
