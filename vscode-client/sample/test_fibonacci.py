from fibonacci import fibonacci


def test_none():
    assert fibonacci(0) == []


def test_one():
    assert fibonacci(1) == [0]


def test_ten():
    assert fibonacci(10) == [0, 1, 1, 2, 3, 5, 8, 13, 21, 34]
