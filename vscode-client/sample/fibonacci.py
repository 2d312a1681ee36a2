def fibonacci(n):
    """The first n Fibonacci numbers, beginning with 0."""
    numbers = [0, 1]
    while len(numbers) < n:
        numbers.append(numbers[-1] + numbers[-2])
    return numbers
