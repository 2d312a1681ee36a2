"""Formats values as short text without running any code of the project, not even a `__repr__`.

Builtin containers are walked by their own iterators, objects are shown by their attributes. Only libraries whose
`repr` is known to be harmless format their own values, and only while that takes little time.
"""

import enum
import time
import types
from collections import deque

MAX_CHARACTERS = 100  # of one value
MAX_DEPTH = 4  # of nested containers
TRUSTED_LIBRARIES = frozenset(
    ("array", "datetime", "decimal", "fractions", "ipaddress", "numpy", "pandas", "pathlib", "re", "uuid")
)
ATOMS = frozenset((type(None), bool, int, float, complex, str, bytes, type(Ellipsis), type(NotImplemented)))
# How a value of a subclass is converted to the builtin class.
_TO_BUILTIN = (
    (int, lambda value: int.__add__(value, 0)),
    (float, lambda value: float.__add__(value, 0.0)),
    (str, lambda value: str.__getitem__(value, slice(0, MAX_CHARACTERS + 1))),
    (bytes, lambda value: bytes.__getitem__(value, slice(0, MAX_CHARACTERS + 1))),
)
_BRACKETS = ((list, "[", "]"), (tuple, "(", ")"), (set, "{", "}"), (frozenset, "{", "}"), (deque, "[", "]"))
_NAMED = (types.BuiltinFunctionType, types.FunctionType, types.MethodDescriptorType, types.ModuleType)


class SafeRepr:
    """`show(value)` gives at most `characters` characters; `seconds` is the time that libraries' own `repr` may take.

    Values of the types `atoms` never change, so a caller that holds the same one need not show it again.
    """

    atoms = ATOMS

    def __init__(self, seconds=0.2, characters=MAX_CHARACTERS):
        self.seconds = seconds
        self.characters = characters

    def show(self, value):
        try:
            text = self._format(value, self.characters, 0)
        except Exception as error:  # whatever a strange type does, the test continues
            text = "<%s: %s>" % (type(value).__name__, type(error).__name__)
        return text if len(text) <= self.characters else text[: self.characters - 3] + "..."

    def _format(self, value, room, depth):
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
        for base, to_builtin in _TO_BUILTIN:
            if isinstance(value, base):
                return "%s(%s)" % (kind.__name__, self._format(to_builtin(value), room, depth))
        if depth >= MAX_DEPTH:
            return "..."
        for base, left, right in _BRACKETS:
            if isinstance(value, base):
                items = self._format_items(base.__iter__(value), room, depth)
                items += "," if base is tuple and tuple.__len__(value) == 1 else ""
                text = left + items + right if items or base in (list, tuple) else ""
                name = "" if kind in (list, tuple, set) else kind.__name__
                return text if text and not name else "%s(%s)" % (name or kind.__name__, text)
        if isinstance(value, dict):
            text = "{" + self._format_pairs(dict.items(value), ": ", room, depth, repr_keys=True) + "}"
            return text if kind is dict else "%s(%s)" % (kind.__name__, text)
        if isinstance(value, BaseException):
            return "%s(%s)" % (kind.__name__, self._format_items(iter(BaseException.args.__get__(value)), room, depth))
        if kind.__module__.partition(".")[0] in TRUSTED_LIBRARIES and self.seconds > 0:
            return self._library_repr(value)
        return self._format_object(value, kind, room, depth)

    def _format_items(self, items, room, depth):
        parts = []
        for item in items:
            if room <= 0:
                parts.append("...")
                break
            parts.append(self._format(item, room, depth + 1))
            room -= len(parts[-1]) + 2
        return ", ".join(parts)

    def _format_pairs(self, pairs, separator, room, depth, repr_keys):
        parts = []
        for key, item in pairs:
            if room <= 0:
                parts.append("...")
                break
            name = self._format(key, room, depth + 1) if repr_keys else str(key)
            parts.append(name + separator + self._format(item, room, depth + 1))
            room -= len(parts[-1]) + 2
        return ", ".join(parts)

    def _library_repr(self, value):
        started = time.perf_counter()
        try:
            return " ".join(repr(value).split())
        finally:
            self.seconds -= time.perf_counter() - started

    def _format_object(self, value, kind, room, depth):
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
        return "%s(%s)" % (kind.__name__, self._format_pairs(fields.items(), "=", room, depth, repr_keys=False))
