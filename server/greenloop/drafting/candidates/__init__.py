"""Turns the text of an answer into a checked candidate."""
