"""The protocol of chat completions, in the form that litellm takes and gives for all providers."""
