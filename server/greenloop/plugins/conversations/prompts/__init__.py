"""The prompts of a conversation."""
