"""Where a specification comes from: `async collect(target, tools) -> Spec`, one file a kind."""
