"""What is in the store and what it is worth."""


class OutOfStock(Exception):
    """More was asked for than there is."""


class Stock:
    """Items by name, with a count and a price in cents."""

    def __init__(self):
        self.counts = {}
        self.prices = {}

    def add(self, name, count, price):
        """Put `count` pieces of an item into the store; the newest price counts for all of them."""
        self.counts[name] = count
        self.prices[name] = price

    def take(self, name, count):
        """Take pieces out. Raises OutOfStock when there are not enough, and changes nothing then."""
        if self.counts.get(name, 0) < count:
            raise OutOfStock(name)
        self.counts[name] -= count

    def value(self):
        """Worth of everything in the store, in cents."""
        return sum(count * self.prices[name] for name, count in self.counts.items())
