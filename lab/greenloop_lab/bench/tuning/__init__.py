"""Searches for better prompts and numbers on one half of the tasks, and believes what the other half confirms."""
