"""Uses of stored runs in the laboratory."""
