"""Feedback of published systems, and what was tried; each file is a part."""
