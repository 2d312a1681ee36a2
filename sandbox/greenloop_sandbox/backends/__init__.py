"""Sandbox back ends: `create(settings) -> Sandbox`, one file for each."""
