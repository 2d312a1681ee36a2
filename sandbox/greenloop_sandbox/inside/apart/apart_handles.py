"""Stand-ins for objects that cannot be copied between judge and code: what is asked of them is asked over there."""

import functools
import operator

from apart_rules import CannotCross


class Handle:
    """Stands for an object of the other process. In the judge it answers no comparison."""

    __slots__ = ("__weakref__", "_apart_kind", "_apart_number", "_apart_peer", "_apart_roots")

    def __getattr__(self, name):
        return self._apart_peer.get_attribute(self, name)

    def __setattr__(self, name, value):
        self._apart_peer.request("op", "setattr", self, name, value)

    def __copy__(self):
        if callable(self):
            return self  # as of a function
        raise CannotCross("a handle was copied")

    def __deepcopy__(self, _memo):
        return self.__copy__()

    def __reduce_ex__(self, _protocol):
        raise CannotCross("a handle was pickled")


class LentHandle(Handle):
    """The judge's object in the hands of the code: it may ask more, and the judge decides."""

    __slots__ = ()
    __hash__ = object.__hash__

    @property
    def __class__(self):
        return self._apart_kind or type(self)

    def __eq__(self, other):
        return self is other or self._apart_peer.ask_handle("eq", self, (other,))


AWAITED = ("await", "anext", "aenter", "aexit")


def _forward(operation):
    if operation == "await":
        return lambda self: self._apart_peer.await_handle(operation, self).__await__()
    if operation in AWAITED:
        return lambda self, *args: self._apart_peer.await_handle(operation, self, args)
    return lambda self, *args, **keywords: self._apart_peer.ask_handle(operation, self, args, keywords)


def _special(operation):
    return lambda value, *args: getattr(type(value), "__%s__" % operation)(value, *args)


# Operations on a handle; the second ones only in the code's process.
ASKED_BY_BOTH = (
    "call", "iter", "next", "await", "len", "getitem", "setitem", "delitem", "enter", "exit", "str", "repr", "fspath",
    "aiter", "anext", "aenter", "aexit",
)  # fmt: skip
ASKED_BY_CODE = (
    "lt", "gt", "le", "ge", "add", "sub", "mul", "truediv", "mod", "contains", "bool", "int", "float", "index",
    "reversed",
)  # fmt: skip
OPERATIONS = {kind.__name__: kind for kind in (len, iter, next, repr, str, bool, float, int, reversed)}
OPERATIONS.update((name, getattr(operator, name, None) or _special(name)) for name in (
    "index", "getitem", "setitem", "delitem", "contains", "eq", "lt", "gt", "le", "ge", "add", "sub", "mul", "truediv",
    "mod", "fspath", "enter", "exit", "aiter", "anext", "aenter", "aexit",
))  # fmt: skip
OPERATIONS["await"] = lambda value: value


@functools.lru_cache(maxsize=None)
def handle_class(base, names):
    """A class of handles with those special methods that the object has, as far as they are allowed on this side."""
    allowed = ASKED_BY_BOTH if base is Handle else ASKED_BY_BOTH + ASKED_BY_CODE
    methods = {"__%s__" % name: _forward(name) for name in names if name in allowed}
    if "call" in names:
        methods["__doc__"] = property(lambda handle: handle._apart_peer.get_attribute(handle, "__doc__"))
    return type(base.__name__, (base,), {"__slots__": (), **methods})


def operate(operation, value, *rest):
    """Does what the other side asks of an object of this one."""
    if operation in ("getattr", "setattr"):
        return (getattr if operation == "getattr" else setattr)(value, *rest)
    if operation == "call":
        return value(*rest[0], **(rest[1] or {}))
    return _step(value, *rest) if operation == "step" else OPERATIONS[operation](value, *rest[0])


def _step(generator, how, value):
    """One step of a generator: (ended, item or result)."""
    try:
        if how == "throw":
            return False, generator.throw(value)
        if how == "close":
            return True, generator.close()
        return False, generator.send(value) if hasattr(generator, "send") else next(generator)
    except StopIteration as end:
        return True, end.value
