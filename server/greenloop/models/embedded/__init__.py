"""The embedded model: its weights, its server process, and the choice of a default model."""
