"""Property tests: the properties of a function and the values they are tested with."""
