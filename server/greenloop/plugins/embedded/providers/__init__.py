"""The model provider `local`."""
