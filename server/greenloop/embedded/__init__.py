"""The language model greenloop brings along: its weights, its server process, and the choice of a model."""
