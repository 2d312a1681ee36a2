"""The protocol of chat completions: what is sent, by which client, and what comes back."""
