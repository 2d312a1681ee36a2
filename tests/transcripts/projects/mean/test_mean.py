from mean import running_mean


def test_nothing():
    assert running_mean([]) == []


def test_running_mean():
    assert running_mean([2, 4, 6]) == [2, 3, 4]
    assert running_mean([1, 2]) == [1, 1.5]
