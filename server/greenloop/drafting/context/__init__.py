"""Context parts of the prompt, one file each: `async gather(problem, tools) -> Sequence[Excerpt]`."""
