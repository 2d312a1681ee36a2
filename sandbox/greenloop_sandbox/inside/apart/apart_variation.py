"""Makes all that the code hands over wrong at once: alike for like values, or by chance.

A test that compares the code with itself does not notice wrong values that are alike, and notices others. It works on
messages as they arrive, so that it does not matter in which form a test asks. It must not know what a value is for.
"""

import string

from apart_wrong import CHANCE

ALIKE, BY_CHANCE = "alike", "chance"  # each with `+` or `-`, and `!` where yes and no are wrong as well
_VALUES = frozenset(("call", "method", "op"))  # questions whose answers the code computes
# What a constructor keeps of its arguments is the test's; a hash says nothing.
_KEPT = frozenset(("__init__", "__new__", "__post_init__", "__setattr__", "setattr", "hash"))
_LETTERS = string.ascii_lowercase, string.ascii_uppercase, string.digits[1:]
_MAPPED = frozenset(("t", "z", "c"))  # values that hold values


class Variation:
    """Of one run. `wrong` is what the run asks for; of any other run it leaves messages as they are."""

    def __init__(self, wrong):
        self._is_alike, self.is_on = wrong.startswith(ALIKE), wrong.startswith((ALIKE, BY_CHANCE))
        self._sign, self._has_bools = -1 if "-" in wrong else 1, wrong.endswith("!")
        self._chosen = self._choose()

    def _choose(self):
        """(factor of numbers, steps along the letters)"""
        return self._sign * CHANCE.randint(1_001, 9_999), CHANCE.randint(1, 8)

    def vary(self, kind, operation, message, known):
        """Changes a message in place that arrives while a question of this kind is open."""
        if not self.is_on or kind not in _VALUES or operation in _KEPT:
            return
        values = message["v"]
        if message["k"] == "return" and operation == "step":
            values[0][2] = self._value(values[0][2])  # after whether it has ended
        elif message["k"] == "return":
            values[0] = self._value(values[0])
        elif message["k"] == "op" and values[0] in ("call", "setattr"):
            values[2:] = [
                each if values[0] == "setattr" and not at else self._value(each) for at, each in enumerate(values[2:])
            ]
        elif message["k"] == "method":
            values[2] = self._value(values[2])
        for number, state in message["o"].items():
            before = known[number].state if number in known else ()
            self._vary_state(state, before)
        for name, place in (("printed", 1), ("logged", 2), ("warned", 2)):
            for each in message.get(name, ()):
                each[place] = self._value(each[place])

    def _vary_state(self, state, before):
        """Of an object that the judge knows, only what has changed."""

        def changed(value):
            return value if value in before else self._value(value)

        tag = state[0]
        if tag in ("l", "S"):
            state[1:] = map(changed, state[1:] or [0])  # to a sum, none is one of nothing
        elif tag == "d":
            state[2::2] = map(changed, state[2::2])
        elif tag == "o":
            before = before[2] if before else ()
            state[2][1::2] = map(changed, state[2][1::2])
        elif tag == "x":
            state[2] = self._value(state[2])

    def of_plain(self, value):
        """A value that has crossed without a message of its own, if it is a number, a text, or yes or no."""
        return self._value(value) if self.is_on and type(value) in (int, float, str, bool) else value

    def _value(self, value):
        if value is None or type(value) is dict:
            return value
        factor, steps = self._chosen if self._is_alike else self._choose()
        if type(value) is bool:
            return value is not (self._is_alike or bool(steps % 2)) if self._has_bools else value
        if type(value) is str:
            return value.translate(_cipher(steps))
        if type(value) in (int, float):
            return (value or 1) * factor
        tag, *parts = value
        if tag == "i":
            return [tag, hex((int(parts[0], 16) or 1) * factor)]
        if tag == "f":
            return [tag, repr((float(parts[0]) or 1) * factor)]
        return [tag, *map(self._value, parts or [0] * (tag == "t"))] if tag in _MAPPED else value


def _cipher(steps):
    return {ord(each): row[(at + steps) % len(row)] for row in _LETTERS for at, each in enumerate(row)}
