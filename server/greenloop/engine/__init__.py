"""A request from its target to its outcome."""
