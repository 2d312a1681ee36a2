"""A project of its own, an engine that does what the test says, and a user at a terminal."""

from fake_engine import fake, project
from keyboard import keyboard

__all__ = ["fake", "keyboard", "project"]
