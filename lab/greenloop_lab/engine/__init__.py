"""What the laboratory makes of stored runs."""
