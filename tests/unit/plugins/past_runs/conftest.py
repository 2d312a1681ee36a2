"""A project of its own, and an engine that does what the test says."""

from fake_engine import fake, project
from fake_machine import machine
from keyboard import keyboard

__all__ = ["fake", "keyboard", "machine", "project"]
