"""Requirements of the settings `spec.*`: limits on the code, a scorer, recorded calls, and the user's approval."""
