"""Texts for links."""
