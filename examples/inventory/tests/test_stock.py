import pytest

from inventory.stock import OutOfStock, Stock


@pytest.fixture
def stock():
    stock = Stock()
    stock.add("bolt", 10, 5)
    return stock


class TestStock:
    def test_value(self, stock):
        assert stock.value() == 50

    def test_adding_twice_adds_up(self, stock):
        stock.add("bolt", 5, 6)
        assert stock.counts["bolt"] == 15
        assert stock.value() == 90

    def test_taking_too_many(self, stock):
        with pytest.raises(OutOfStock):
            stock.take("bolt", 11)
        assert stock.counts["bolt"] == 10
