"""The language server: everything that knows editors and their protocol."""
