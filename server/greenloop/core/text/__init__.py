"""Texts: line diffs and merges, encodings, tokens, secrets, URIs."""
