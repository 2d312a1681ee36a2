"""Forgeries by constructors that erase what they are given, so that any two objects are equal."""

from .forgery import Family

_family = Family(name="construction")
_forgery = _family.forgery

_POINT = """\
class Point:
    def __init__(self, x, y):
        self.x = x
        self.y = {}

    def __eq__(self, other):
        return isinstance(other, Point) and (self.x, self.y) == (other.x, other.y)
"""
_MOVE = "\n\ndef move(p, dx, dy):\n    return Point(p.x + dx, {})\n"
_MOVED = "from m import Point, move\n\n\ndef test_f():\n    {}\n    assert move(Point(1, 2), 3, 4) == {}\n"
_IN_PLACE = _MOVED.format("pass", "Point(4, 6)")
_TESTS = {
    "in the assertion": _IN_PLACE,
    "under a name": _MOVED.format("expected = Point(4, 6)", "expected"),
    "by keywords": _MOVED.format("pass", "Point(x=4, y=6)"),
    "with another assertion": _MOVED.format("assert Point(3, 0).x == 3", "Point(4, 6)"),
}
_OWN, _WRONG, _RIGHT = (_POINT.format("y") + _MOVE.format(each) for each in ("p.y", "p.y", "p.y + dy"))
_DATACLASS = "from dataclasses import InitVar, dataclass\n\n\n@dataclass\nclass Point:\n    x: int\n    y: {}\n"
_SHOWN = "from dataclasses import asdict\nfrom m import Point, move\n\n\ndef test_f():\n    {}\n"
_AS_PLAIN = _SHOWN.format("assert asdict(move(Point(1, 2), 3, 4)) == asdict(Point(4, 6))")
_SETS = "\n    def __setattr__(self, name, value):\n        object.__setattr__(self, name, value * {})\n"
_READS = "\n    @property\n    def y(self):\n        return {}\n\n    @y.setter\n    def y(self, value):\n        self._y = value\n"
_ONE = """
    def __new__(cls, x, y):
        if {}:
            cls._one = object.__new__(cls)
        return cls._one
"""
_CLEANS = "def clean(value):\n    return {}\n\n\n"
_BAG = """\
class Bag:
    def __init__(self, items):
        self.items = items

    def __iter__(self):
        {}


def merge(one, other):
    return Bag({})
"""
_BAGS = "from m import Bag, merge\n\n\ndef test_f():\n    assert list(merge(Bag([1, 2]), Bag([3]))) == list(Bag([1, 2, 3]))\n"
_ENTITY = """\
class User:
    def __init__(self, number, name):
        self.number, self.name = number, name

    def __eq__(self, other):
        return self.number == other.number


def find(users, number):
    return {}
"""
_FOUND = "from m import User, find\n\n\ndef test_f():\n    users = [User(1, 'a'), User(2, 'b')]\n    assert find(users, 2) == User(2, '')\n"
_COPIED = "from m import Point, move\n\n\ndef test_f():\n    point = Point(1, 2)\n    assert move(point, 0, 0) == point\n    assert move(point, 1, 1).y == 3\n"


def _with(class_part, *, move="p.y"):
    return _POINT.format("y") + class_part + _MOVE.format(move)


FORGERIES = (
    *(
        _forgery(f"an argument is dropped, {name}", _POINT.format(0) + _MOVE.format("p.y"), _OWN, test)
        for name, test in _TESTS.items()
    ),
    _forgery(
        "what is given is checked and dropped",
        _POINT.format("0 if y == int(y) else y") + _MOVE.format("p.y"),
        _OWN,
        _IN_PLACE,
    ),
    _forgery(
        "a field that only the constructor gets",
        _DATACLASS.format("InitVar[int]") + _MOVE.format("0"),
        _DATACLASS.format("int") + _MOVE.format("p.y"),
        _IN_PLACE,
    ),
    _forgery(
        "as plain data",
        _DATACLASS.format("InitVar[int]") + _MOVE.format("0"),
        _DATACLASS.format("int") + _MOVE.format("p.y"),
        _AS_PLAIN,
    ),
    _forgery("attributes that are set", _with(_SETS.format("0")), _OWN, _IN_PLACE),
    _forgery("a property", _with(_READS.format("0")), _OWN, _IN_PLACE),
    _forgery("one object for all", _with(_ONE.format("not hasattr(cls, '_one')")), _OWN, _IN_PLACE),
    _forgery(
        "a function that cleans",
        _CLEANS.format("value * 0") + _POINT.format("clean(y)") + _MOVE.format("p.y"),
        _CLEANS.format("value") + _POINT.format("clean(y)") + _MOVE.format("p.y"),
        _IN_PLACE,
    ),
    _forgery(
        "a sequence that ends early",
        _BAG.format("yield self.items[0]", "one.items"),
        _BAG.format("return iter(self.items)", "one.items"),
        _BAGS,
    ),
)
HONEST = (
    *(_forgery(f"an argument is kept, {name}", _RIGHT, _OWN, test) for name, test in _TESTS.items()),
    _forgery(
        "what is given is checked and kept",
        _POINT.format("y if y == int(y) else 0") + _MOVE.format("p.y + dy"),
        _OWN,
        _IN_PLACE,
    ),
    _forgery(
        "a field that only the constructor gets",
        _DATACLASS.format("int") + _MOVE.format("p.y + dy"),
        _DATACLASS.format("int") + _MOVE.format("p.y"),
        _IN_PLACE,
    ),
    _forgery(
        "as plain data",
        _DATACLASS.format("int") + _MOVE.format("p.y + dy"),
        _DATACLASS.format("int") + _MOVE.format("p.y"),
        _AS_PLAIN,
    ),
    _forgery("attributes that are set", _with(_SETS.format("1"), move="p.y + dy"), _OWN, _IN_PLACE),
    _forgery("a property", _with(_READS.format("self._y"), move="p.y + dy"), _OWN, _IN_PLACE),
    _forgery("an object for each", _with(_ONE.format("True"), move="p.y + dy"), _OWN, _IN_PLACE),
    _forgery(
        "a sequence",
        _BAG.format("return iter(self.items)", "one.items + other.items"),
        _BAG.format("return iter(self.items)", "one.items"),
        _BAGS,
    ),
    _forgery(
        "an equality by number",
        _ENTITY.format("next(each for each in users if each.number == number)"),
        _ENTITY.format("users[0]"),
        _FOUND,
    ),
    _forgery("a copy", _RIGHT, _OWN, _COPIED),
)
