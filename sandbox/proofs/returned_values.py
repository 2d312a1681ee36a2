"""Looks in the worker at the values that changed functions hand to a test: can they lie when they are compared?

Plain data cannot: None, numbers, texts, bytes and the built-in containers, by exact type. An instance can where its
class answers `==`, `len`, `bool` and the like by code of the candidate, or where it is made to be equal to anything.
"""

import collections
import functools
import gc
import operator
import sys
import threading
import time
import types
import weakref

PLAIN = frozenset(
    {type(None), bool, int, float, complex, str, bytes, bytearray, range, type(Ellipsis), type(NotImplemented)}
    | {types.ModuleType}  # what a function imports, such as `sys` with pytest's streams, is no result
)
CONTAINERS = frozenset({list, tuple, set, frozenset, dict, type({}.keys()), type({}.values()), type({}.items())})
# What answers for a value when a test compares, counts or tests it. Not what shows it (only doctests compare values by
# that): a text can only be compared as a text, and one of another type is looked at when `__repr__` returns it.
ANSWERING = (
    "__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__bool__", "__len__",
    "__hash__", "__contains__", "__getattribute__", "__getattr__", "__class__",
    "__instancecheck__", "__subclasscheck__", "__float__", "__int__", "__index__", "__round__", "__abs__",
)  # fmt: skip
SHOWING = ("__repr__", "__str__", "__format__")
# Their objects are equal to more than themselves, on purpose.
COMPARING = frozenset(
    {"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__bool__", "__len__", "__contains__"}
)
EQUAL_TO_MANY = frozenset({"unittest", "mock", "pytest", "_pytest", "hamcrest", "dirty_equals", "testfixtures"})
# Their streams and handlers are equal to themselves alone, and many objects keep `sys.stderr` or a logger.
HONEST = frozenset({"_pytest.capture", "_pytest.logging"})
MRO = vars(type)["__mro__"]
HEAP_TYPE = 1 << 9  # a class that a class statement or `type` made
BUILT_IN_CALLABLES = (type, types.BuiltinFunctionType, functools.partial, operator.methodcaller, operator.itemgetter)
SLOT_WRAPPERS = (type(object.__eq__), type(str.join))
PROXIES = (weakref.ProxyType, weakref.CallableProxyType)
SPOKEN_AS_CONSONANT = ("eu", "one", "ubi", "uni", "us", "uti", "uu")
SPOKEN_AS_VOWEL = ("heir", "honest", "honor", "hour", "html", "http")
MOST_SECONDS = 0.5  # for one case, to look whether a call of new code replaced something
MOST_VALUES = 400  # values looked at in one result
MOST_RESULTS = 2000  # results looked at in depth for one case; of later ones only the type


class Watch:
    """Looks at what new code of some files returns to other code, at its arguments, and at what it replaced.

    `is_new(code)` says whether a code object is the candidate's own and not the user's; `altered()` names what is not
    as it was when the tests began. `unfit` is empty while every value was plain data or an instance whose comparisons
    are not the candidate's; else it says what was found. What was found outside of a test counts for all of them.
    """

    def __init__(self, is_new, altered=list):
        self._is_new, self._altered = is_new, altered
        self._answering, self._classes = ANSWERING, {}
        self._entered = {}
        self.lasting = ""
        self.results = 0
        self.intact = True
        self.start()

    def start(self, shows=False):
        """Begins a case; `shows` is true for one that compares what values look like."""
        self._answering = ANSWERING + SHOWING if shows else ANSWERING
        self.unfit, self.results, self.intact = self.lasting, 0, True
        self._left = MOST_SECONDS
        self._entered.clear()

    def profile(self, lasting=False):
        """Watches while it is iterated; made for a hook wrapper. `lasting`: what is found counts for every case."""
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
            if lasting:
                self.lasting = self.lasting or self.unfit

    def _make_callback(self):
        is_new, look, plain, leave = self._is_new, self.look, PLAIN, self._leave

        def callback(frame, event, argument):
            if event not in ("return", "call") or not is_new(frame.f_code):
                return
            caller = frame.f_back
            if caller is not None and is_new(caller.f_code):
                return
            if event == "call":
                self._enter(frame)
                return
            leave(frame)
            if frame.f_code.co_name == "<module>":
                return
            self.results += 1
            if type(argument) not in plain:
                look(argument)
            if self.results <= MOST_RESULTS:
                for value in frame.f_locals.values():  # arguments that were changed in place
                    if type(value) not in plain:
                        look(value)

        return callback

    def _enter(self, frame):
        if self._left > 0:
            self._entered[id(frame)] = self._names()

    def _leave(self, frame):
        before = self._entered.pop(id(frame), None)
        if before is None or self.unfit:
            return
        new = [name for name in self._names() if name not in before]
        if new:
            self.unfit = "what it needs in another form: %s was replaced while the new code ran" % new[0]

    def _names(self):
        start = time.perf_counter()
        names = self._altered()
        self._left -= time.perf_counter() - start
        return names

    def look(self, value):
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
                todo += _items(value)
            elif why := self._why_class_may_lie(kind):
                self.unfit = why
                return
            else:
                todo += _fields(value)
                todo += _items(value)

    def _why_class_may_lie(self, kind):
        """Empty for a class whose instances compare by code of the user, of a library or of Python."""
        key = kind, self._answering
        if key not in self._classes:
            self._classes[key] = self._judge_class(kind)
        return self._classes[key]

    def _judge_class(self, kind):
        if kind in PROXIES:
            return "%s, which compares as another object does" % _with_article(kind.__qualname__)
        for base in MRO.__get__(kind):
            if str(base.__module__).partition(".")[0] in EQUAL_TO_MANY and base.__module__ not in HONEST:
                return "%s.%s, which may be equal to anything" % (_with_article(base.__module__), base.__qualname__)
        for base in (*MRO.__get__(kind), *MRO.__get__(type(kind))):
            for name in self._answering:
                member = vars(base).get(name)
                code = _code_of(member) or _code_of(vars(type(member)).get("__call__"))
                if self._is_new(code) or (name in COMPARING and _is_odd(base, name, member, code)):
                    return "%s, whose %s the new code defines" % (_with_article(kind.__qualname__), name)
        return ""


def _with_article(name):
    """A class's name after "a" or "an", as far as its first letters tell how it is spoken."""
    start = name.lstrip("_").lower()
    is_vowel = start.startswith(("a", "e", "i", "o", "u")) and not start.startswith(SPOKEN_AS_CONSONANT)
    return "%s %s" % ("an" if is_vowel or start.startswith(SPOKEN_AS_VOWEL) else "a", name)


def _is_odd(base, name, member, code):
    """Whether a class of Python code compares by a function that was made for something else."""
    if member is None or not base.__flags__ & HEAP_TYPE:
        return False
    if code is not None:
        return "mock" in code.co_filename.rpartition("/")[2]
    if isinstance(member, (staticmethod, classmethod, property)):
        return True
    return type(member) in BUILT_IN_CALLABLES or (
        type(member) in SLOT_WRAPPERS and getattr(member, "__name__", name) != name
    )


def _fields(value):
    """The values in an instance's own attributes, read without code of its class."""
    fields = []
    try:
        fields += dict.values(object.__getattribute__(value, "__dict__"))
    except (AttributeError, TypeError):
        pass
    if type(value).__flags__ & HEAP_TYPE and not isinstance(value, type):
        for base in MRO.__get__(type(value)):
            for member in list(vars(base).values()):
                if type(member) is types.MemberDescriptorType:  # of `__slots__`
                    try:
                        fields.append(member.__get__(value))
                    except (AttributeError, TypeError):
                        pass
    return fields


def _items(value):
    """The elements of a container or of an instance of a subclass of one, read without code of its class."""
    kinds = MRO.__get__(type(value))
    if dict in kinds:
        return [*dict.keys(value), *dict.values(value)]
    for kind in (list, tuple, set, frozenset, collections.deque):
        if kind in kinds:
            return list(kind.__iter__(value))
    if type(value) is types.MappingProxyType:
        return gc.get_referents(value)
    return list(value) if type(value) in CONTAINERS else []


def _code_of(value):
    if isinstance(value, (staticmethod, classmethod)):
        value = value.__func__
    elif isinstance(value, property):
        value = value.fget
    return value.__code__ if type(value) is types.FunctionType else None
