"""Tests that run on their own in an editor: on request, or after a save."""
