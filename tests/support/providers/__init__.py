"""Stand-in servers that check requests as real providers do, written from their references."""
