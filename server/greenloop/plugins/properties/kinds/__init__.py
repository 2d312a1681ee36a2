"""Sources of a specification: `async collect(problem, tools) -> Spec`, one file for each kind."""
