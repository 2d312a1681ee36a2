"""Less time or memory, limits, or a comment's wish, for code that passes its tests: `greenloop improve`."""
