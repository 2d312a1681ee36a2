"""The conversation with a capable model: what it is told, how it looks around, and what it answers."""
