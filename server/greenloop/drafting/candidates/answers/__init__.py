"""Reads a candidate from the text of an answer."""
