"""What servers for other programs share: standard input and output for a protocol, and what a client may touch."""
