"""Values as short text, without running a line of the project: no `__repr__` that somebody may have written.

Builtin containers are walked by their own iterators, objects are shown by their attributes. Only libraries whose
`repr` is known to be harmless are asked, and only as long as that takes little time.
"""

import enum
import time
import types
from collections import deque

WIDTH = 100  # characters of one value
DEPTH = 4  # containers within containers
HARMLESS = frozenset(
    ("array", "datetime", "decimal", "fractions", "ipaddress", "numpy", "pandas", "pathlib", "re", "uuid")
)
ATOMS = frozenset((type(None), bool, int, float, complex, str, bytes, type(Ellipsis), type(NotImplemented)))
# How a value of a subclass becomes one of the class itself.
_PLAIN = (
    (int, lambda value: int.__add__(value, 0)),
    (float, lambda value: float.__add__(value, 0.0)),
    (str, lambda value: str.__getitem__(value, slice(0, WIDTH + 1))),
    (bytes, lambda value: bytes.__getitem__(value, slice(0, WIDTH + 1))),
)
_BRACKETS = ((list, "[", "]"), (tuple, "(", ")"), (set, "{", "}"), (frozenset, "{", "}"), (deque, "[", "]"))
_NAMED = (types.BuiltinFunctionType, types.FunctionType, types.MethodDescriptorType, types.ModuleType)


class Shower:
    """`show(value)` is at most `WIDTH` characters; `seconds` is the time that libraries' own `repr` may take.

    The values of `atoms` never change, so who holds the same one need not show it again.
    """

    atoms = ATOMS

    def __init__(self, seconds=0.2):
        self.seconds = seconds

    def show(self, value):
        try:
            text = self._text(value, WIDTH, 0)
        except Exception as error:  # whatever a strange type does, the test goes on
            text = "<%s: %s>" % (type(value).__name__, type(error).__name__)
        return text if len(text) <= WIDTH else text[: WIDTH - 3] + "..."

    def _text(self, value, room, depth):
        kind = type(value)
        if kind is int:
            return repr(value) if value.bit_length() < 1000 else "<int of %d bits>" % value.bit_length()
        if kind in (str, bytes, bytearray):
            return repr(value[: room + 1]) if len(value) > room else repr(value)
        if kind in ATOMS:
            return repr(value)
        if isinstance(value, type):
            return "<class %s>" % type.__getattribute__(value, "__name__")
        if kind in _NAMED:
            return "<%s %s>" % (kind.__name__, value.__name__)
        if isinstance(value, enum.Enum):
            return "%s.%s" % (kind.__name__, object.__getattribute__(value, "_name_"))
        for base, plain in _PLAIN:
            if isinstance(value, base):
                return "%s(%s)" % (kind.__name__, self._text(plain(value), room, depth))
        if depth >= DEPTH:
            return "..."
        for base, left, right in _BRACKETS:
            if isinstance(value, base):
                inner = self._items(base.__iter__(value), room, depth)
                inner += "," if base is tuple and tuple.__len__(value) == 1 else ""
                text = left + inner + right if inner or base in (list, tuple) else ""
                name = "" if kind in (list, tuple, set) else kind.__name__
                return text if text and not name else "%s(%s)" % (name or kind.__name__, text)
        if isinstance(value, dict):
            text = "{" + self._pairs(dict.items(value), ": ", room, depth, repr_keys=True) + "}"
            return text if kind is dict else "%s(%s)" % (kind.__name__, text)
        if isinstance(value, BaseException):
            return "%s(%s)" % (kind.__name__, self._items(iter(BaseException.args.__get__(value)), room, depth))
        if kind.__module__.partition(".")[0] in HARMLESS and self.seconds > 0:
            return self._asked(value)
        return self._object(value, kind, room, depth)

    def _items(self, items, room, depth):
        parts = []
        for item in items:
            if room <= 0:
                parts.append("...")
                break
            parts.append(self._text(item, room, depth + 1))
            room -= len(parts[-1]) + 2
        return ", ".join(parts)

    def _pairs(self, pairs, between, room, depth, repr_keys):
        parts = []
        for key, item in pairs:
            if room <= 0:
                parts.append("...")
                break
            name = self._text(key, room, depth + 1) if repr_keys else str(key)
            parts.append(name + between + self._text(item, room, depth + 1))
            room -= len(parts[-1]) + 2
        return ", ".join(parts)

    def _asked(self, value):
        began = time.perf_counter()
        try:
            return " ".join(repr(value).split())
        finally:
            self.seconds -= time.perf_counter() - began

    def _object(self, value, kind, room, depth):
        """`Name(attribute=value, ...)`, slots included."""
        try:
            fields = dict(object.__getattribute__(value, "__dict__"))
        except AttributeError:
            fields = {}
        for base in kind.__mro__:
            slots = base.__dict__.get("__slots__", ())
            for name in (slots,) if isinstance(slots, str) else tuple(slots):
                try:
                    fields[name] = object.__getattribute__(value, name)
                except AttributeError:
                    pass  # never set
        if not fields:
            return "<%s>" % kind.__name__
        return "%s(%s)" % (kind.__name__, self._pairs(fields.items(), "=", room, depth, repr_keys=False))
