"""What the server knows between two messages: runs, open questions, test results."""
