"""What the prompt tells beside the task: `async gather(problem, tools) -> Sequence[Excerpt]`, one file a kind."""
