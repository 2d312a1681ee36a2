"""The command line: words in, events shown, files written, an exit code out."""
