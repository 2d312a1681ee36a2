"""The prompts of these parts, in folders like those of greenloop."""
