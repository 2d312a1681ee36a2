"""Past runs: listed, shown, applied and undone on the command line, and offered again in an editor."""
