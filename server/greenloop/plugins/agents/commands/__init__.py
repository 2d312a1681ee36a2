"""The commands `greenloop mcp` and `greenloop acp`."""
