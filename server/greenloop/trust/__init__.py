"""Parts: whom to believe where designed tests and candidates disagree. One variant, one file."""
