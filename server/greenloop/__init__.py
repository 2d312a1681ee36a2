"""Turns a specification (a failing test or a docstring) into a verified workspace edit."""

try:  # an installation writes it, from the newest tag
    from greenloop._version import __version__ as __version__  # type: ignore[import-not-found, unused-ignore]
except ImportError:
    __version__ = "0.1.0.dev0"
