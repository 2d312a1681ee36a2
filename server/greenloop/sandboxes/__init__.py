"""Walls to run code behind: `create(settings) -> Sandbox`, one file a back end."""
