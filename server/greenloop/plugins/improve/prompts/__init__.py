"""The prompts of `greenloop improve`."""
