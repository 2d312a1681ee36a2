from shipping import cost


def test_a_light_parcel():
    assert cost(500) == 400
    assert cost(2000) == 400


def test_whole_kilograms():
    assert cost(3000) == 550
    assert cost(10_000) == 1600


def test_a_kilogram_that_is_begun():
    assert cost(3200) == 700
