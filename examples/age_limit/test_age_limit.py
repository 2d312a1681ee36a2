from age_limit import is_adult


def test_child():
    assert not is_adult(17)


def test_birthday():
    assert is_adult(18)


def test_grown_up():
    assert is_adult(40)
