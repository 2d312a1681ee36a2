def justify(words, width):
    """Lines of exactly `width` characters: spaces spread between the words, more on the left; the last line plain."""
    raise NotImplementedError
