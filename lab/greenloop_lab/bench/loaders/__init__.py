"""Tasks from files that users write, one module for each kind of file."""
