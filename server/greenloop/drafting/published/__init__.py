"""Steps of published systems that are no parts, and that the default does not use."""
