def fibonacci(n):
    """The first n Fibonacci numbers as a list."""
    raise NotImplementedError
