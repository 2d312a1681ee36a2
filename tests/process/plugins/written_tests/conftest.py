"""A project of its own, and an engine that does what the test says."""

from fake_engine import fake, project

__all__ = ["fake", "project"]
