"""Commits of the user's repository: read, compared with the working tree, and laid out. Nothing writes one."""
