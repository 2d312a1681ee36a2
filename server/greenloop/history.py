"""What happened, kept: SQLite (WAL) in the user's state folder, one row a run and one an attempt.

Every row is committed as it happens, so that a run killed at any moment leaves a readable history.
"""
