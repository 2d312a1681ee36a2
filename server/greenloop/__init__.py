"""greenloop: a specification goes in (a failing test or a docstring), a verified workspace edit comes out."""

__version__ = "0.1.0"
