"""Stand-in servers that check requests as the real providers do, written from their published references."""
