"""Code that tests use and that is not written yet: which names, what stands in for them, and what belongs to them."""
