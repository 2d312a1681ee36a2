import pytest
from sequence import fibonacci


@pytest.mark.parametrize(("n", "numbers"), [(-1, []), (0, []), (1, [0]), (2, [0, 1]), (6, [0, 1, 1, 2, 3, 5])])
def test_fibonacci(n, numbers):
    assert fibonacci(n) == numbers
