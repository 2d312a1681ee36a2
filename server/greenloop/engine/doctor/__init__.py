"""Health check of this machine: available parts, and remedies for missing ones."""
