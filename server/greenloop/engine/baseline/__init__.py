"""Background work during and after a baseline, and reuse of the previous request's baseline."""
