"""Back ends; each file is a part."""
