"""One LSP feature, one file; each has `register(server, parts)`."""
