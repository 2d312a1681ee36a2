"""The feedback of a conversation."""
