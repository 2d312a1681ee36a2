def number(text):
    """The value of a Roman numeral; ValueError for what is none."""
    raise NotImplementedError
