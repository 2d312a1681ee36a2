"""Base of servers for other programs: standard streams for a protocol."""
