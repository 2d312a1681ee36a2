"""State of the server between two messages: runs, open questions, test results."""
