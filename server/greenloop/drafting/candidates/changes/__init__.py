"""Makes candidates without a model: one-token changes, missing imports, the changes of two candidates together."""
