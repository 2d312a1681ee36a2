"""What the model learns from a failure: `async describe(problem, attempts, tools) -> Note`, one file a kind."""
