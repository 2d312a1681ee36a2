"""Running tests on their own, on request or after a save."""
