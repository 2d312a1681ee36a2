import numpy as np

from signal_tools import moving_average


def test_average_of_two():
    assert moving_average([1.0, 3.0, 5.0], 2).tolist() == [2.0, 4.0]


def test_width_one_changes_nothing():
    values = np.array([4.0, 2.0])
    assert moving_average(values, 1).tolist() == [4.0, 2.0]
