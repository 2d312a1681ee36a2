def older(a, b):
    """Is version a older than version b? A pre-release such as 1.0-rc.2 is older than 1.0."""
    raise NotImplementedError
