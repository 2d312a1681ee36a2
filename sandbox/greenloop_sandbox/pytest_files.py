"""The files that configure pytest, by name, in its own order."""

CONFIGURATION = ("pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "pyproject.toml", "setup.cfg", "tox.ini")
