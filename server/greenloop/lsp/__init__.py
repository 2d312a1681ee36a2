"""The language server: everything that knows about editors and their protocol."""
