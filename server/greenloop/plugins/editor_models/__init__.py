"""The language model that an editor brings."""
