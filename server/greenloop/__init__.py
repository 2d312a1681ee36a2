"""Turns a specification (a failing test or a docstring) into a verified workspace edit."""

__version__ = "0.1.0"
