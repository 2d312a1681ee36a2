def minutes(text):
    """How many minutes a duration such as "1h30m" has."""
    raise NotImplementedError
