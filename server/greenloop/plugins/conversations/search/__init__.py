"""The search of a conversation."""
