"""Calls of a function: inputs drawn or recorded, and results compared. A library for other plugins."""
