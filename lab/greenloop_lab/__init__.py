"""The laboratory: measures greenloop, and holds published systems to compare it with; no part of a user's wheel."""
