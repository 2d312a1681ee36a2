"""Failures that no candidate can fix."""
