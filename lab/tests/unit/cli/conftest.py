"""A project of its own."""

from __future__ import annotations

from fake_engine import fake, project

__all__ = ["fake", "project"]
