"""Searches of published systems, and ablations of the ladder; each file is a part."""
