"""Sandboxes on many machines."""
