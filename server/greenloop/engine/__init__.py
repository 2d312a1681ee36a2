"""Refine requests, from the target to the outcome."""
