"""Chooses what to try next, builds the prompts, and turns answers into checked candidates."""
