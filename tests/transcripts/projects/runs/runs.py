def runs(numbers):
    """Ascending page numbers as a print dialogue writes them."""
    raise NotImplementedError
