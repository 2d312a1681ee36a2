"""Kinds of generated tests of published systems; each file is a part."""
