def encode(text):
    """Run-length encode a text as a list of (character, count) pairs.

    >>> encode("aab")
    [('a', 2), ('b', 1)]
    >>> encode("abba")
    [('a', 1), ('b', 2), ('a', 1)]
    >>> encode("")
    []
    """
    raise NotImplementedError
