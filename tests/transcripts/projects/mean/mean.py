def running_mean(values):
    """The means of the first, the first two, the first three values, and so on."""
    means = []
    total = 0
    for count, value in enumerate(values, 1):
        total += value
        means.append(total)
    return means
