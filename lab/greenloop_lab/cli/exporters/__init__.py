"""Forms in which `greenloop history export` writes runs; each file is a part."""
