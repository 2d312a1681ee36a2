"""Looks in the worker at the values that changed functions hand to a test: can they lie when they are compared?

Plain data cannot: None, numbers, texts, bytes and the built-in containers, by exact type. An instance can where its
class answers `==`, `repr`, `bool` and the like by code of the candidate, or where it is made to be equal to anything.
"""

import sys
import threading
import types

PLAIN = frozenset(
    {type(None), bool, int, float, complex, str, bytes, bytearray, range, type(Ellipsis), type(NotImplemented)}
)
CONTAINERS = frozenset({list, tuple, set, frozenset, dict, type({}.keys()), type({}.values()), type({}.items())})
# What answers for a value when a test compares, shows, counts or tests it.
ANSWERING = (
    "__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__repr__", "__str__", "__bool__", "__len__",
    "__hash__", "__contains__", "__iter__", "__getattribute__", "__getattr__", "__class__",
    "__instancecheck__", "__subclasscheck__", "__float__", "__int__", "__index__", "__format__", "__round__",
    "__abs__",
)  # fmt: skip
# Their objects are equal to more than themselves, on purpose.
EQUAL_TO_MANY = frozenset({"unittest", "mock", "pytest", "_pytest", "hamcrest", "dirty_equals", "testfixtures"})
MRO = vars(type)["__mro__"]
MOST_VALUES = 400  # values looked at in one result
MOST_RESULTS = 2000  # results looked at in depth for one case; of later ones only the type


class Watch:
    """Looks at what functions with these code objects return to other code, and at their arguments afterwards.

    `is_new(code)` says whether a code object is the candidate's own and not the user's. `unfit` is empty while every
    value was plain data or an instance whose comparisons are not the candidate's; else it says what was found.
    """

    def __init__(self, codes, is_new):
        self._codes, self._is_new = codes, is_new
        self._classes = {}
        self.start()

    def start(self):
        self.unfit, self.results, self.intact = "", 0, True

    def profile(self):
        """Watches while it is iterated; made for a hook wrapper."""
        callback = self._make_callback()
        previous = sys.getprofile()
        threading.setprofile(callback)
        sys.setprofile(callback)
        try:
            yield
        finally:
            self.intact = self.intact and sys.getprofile() is callback
            sys.setprofile(previous)
            threading.setprofile(None)

    def _make_callback(self):
        codes, look, plain = self._codes, self._look, PLAIN

        def callback(frame, event, argument):
            if event != "return" or frame.f_code not in codes:
                return
            caller = frame.f_back
            if caller is not None and caller.f_code in codes:
                return
            self.results += 1
            if type(argument) not in plain:
                look(argument)
            if self.results <= MOST_RESULTS:
                for value in frame.f_locals.values():  # arguments that were changed in place
                    if type(value) not in plain:
                        look(value)

        return callback

    def _look(self, value):
        if self.unfit:
            return
        seen, todo, left = set(), [value], MOST_VALUES if self.results <= MOST_RESULTS else 1
        while todo and left:
            value, left = todo.pop(), left - 1
            kind = type(value)
            if kind in PLAIN or id(value) in seen:
                continue
            seen.add(id(value))
            if kind in CONTAINERS:
                if hasattr(kind, "items"):
                    todo += dict.keys(value)
                    todo += dict.values(value)
                else:
                    todo += value
            elif why := self._why_class_may_lie(kind):
                self.unfit = why
                return
            else:
                fields = _fields(value)
                todo += fields

    def _why_class_may_lie(self, kind):
        """Empty for a class whose instances compare by code of the user, of a library or of Python."""
        if kind not in self._classes:
            self._classes[kind] = self._judge_class(kind)
        return self._classes[kind]

    def _judge_class(self, kind):
        if kind.__module__.partition(".")[0] in EQUAL_TO_MANY:
            return "a %s.%s, which may be equal to anything" % (kind.__module__, kind.__qualname__)
        for base in (*MRO.__get__(kind), *MRO.__get__(type(kind))):
            for name in ANSWERING:
                if self._is_new(_code_of(vars(base).get(name))):
                    return "a %s, whose %s the new code defines" % (kind.__qualname__, name)
        return ""


def _fields(value):
    """The values in an instance's own attributes, read without code of its class."""
    try:
        return list(object.__getattribute__(value, "__dict__").values())
    except (AttributeError, TypeError):
        return []


def _code_of(value):
    if isinstance(value, (staticmethod, classmethod)):
        value = value.__func__
    elif isinstance(value, property):
        value = value.fget
    return value.__code__ if type(value) is types.FunctionType else None
