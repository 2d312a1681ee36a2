"""The house's own plugins, each registered by entry points of `pyproject.toml` as a stranger's package is."""
