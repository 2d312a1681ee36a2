"""Python source: definitions, names, stubs, layout."""
