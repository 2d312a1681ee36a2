"""Earlier runs on the command line."""
