"""The prompts of the model that writes tests."""
