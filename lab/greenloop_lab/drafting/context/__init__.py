"""Context of published systems; each file is a part."""
