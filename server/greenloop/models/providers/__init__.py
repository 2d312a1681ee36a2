"""Providers of language models: `create(name, settings) -> Model`, one file per kind."""
