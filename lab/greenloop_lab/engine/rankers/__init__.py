"""Chooses the candidate that runs first, where a run takes long; each file is a part."""
