"""The connection: bytes, messages, the client's capabilities, and requests to the client."""
