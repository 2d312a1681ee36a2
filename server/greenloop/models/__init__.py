"""Language models: `create(name, settings) -> Model`, one file a kind."""
