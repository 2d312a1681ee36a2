"""Runs code in sandboxes: back ends, their selection, pooled sessions, and the files that run inside."""
