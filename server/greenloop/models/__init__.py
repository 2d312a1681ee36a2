"""Language models: providers, the embedded model, and the choice of a model per role."""
