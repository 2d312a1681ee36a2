import numpy as np


def moving_average(values, width):
    """Means of every `width` neighbouring values; the result has len(values) - width + 1 entries."""
    kernel = np.ones(width)
    return np.convolve(values, kernel, mode="valid")
