"""Writes values as trees of JSON, by their exact types, and reads them back; its text also runs in the sandbox.

No method of an object is called: what a class says of equality or of its looks is not believed.
Standard library on Python 3.9. It must not import anything of greenloop.
"""

from __future__ import annotations

import base64
import builtins
import datetime as dt
import decimal
import fractions
import importlib
import itertools
import marshal
import types
from collections.abc import Callable
from typing import Any

DEEPEST = 20
MOST_ITEMS = 1000  # of an iterator
LARGEST = 4000  # bits of a number that is written in decimal
# Their `repr` shows nothing but the value, and they come with Python.
SHOWN = frozenset(("datetime", "decimal", "fractions", "pathlib", "uuid"))
_TAGS: dict[Any, str] = {list: "list", tuple: "tuple", set: "set", frozenset: "frozenset"}
_KINDS: dict[str, Any] = {tag: kind for kind, tag in _TAGS.items()}
# Values of the standard library that are made again from a few others.
_MADE: dict[Any, Callable[[Any], list[Any]]] = {
    dt.date: lambda each: [each.year, each.month, each.day],
    dt.timedelta: lambda each: [each.days, each.seconds, each.microseconds],
    decimal.Decimal: lambda each: [str(each)],
    fractions.Fraction: lambda each: [each.numerator, each.denominator],
}
_MAKERS: dict[str, Any] = {kind.__name__: kind for kind in (*_MADE, dt.datetime)}
_LAZY = (types.GeneratorType, itertools.chain, map, filter, zip, range)


class UnplainError(Exception):
    """The value cannot be made again elsewhere."""


def encode(value: Any, *, digits: int = 0, strict: bool = False, depth: int = 0, seen: tuple[int, ...] = ()) -> Any:
    """Returns the tree of a value. With `digits`, floats are rounded to them: the order of additions is no result.

    `strict`: raises `UnplainError` for what cannot be made again from its tree; otherwise it is named by its type.
    """
    kind = type(value)
    if value is None or kind in (bool, str):
        return value
    if kind is int:
        return value if value.bit_length() <= LARGEST else ["int", hex(value)]
    if kind is float:
        return ["float", f"{value:.{digits}e}" if digits else repr(value)]
    if kind is bytes:
        return ["bytes", value.hex()]
    if kind is complex:
        return ["complex", repr(value)]
    if kind in _MADE:
        return ["made", kind.__name__, _MADE[kind](value)]
    if kind is dt.datetime and value.tzinfo is None and not value.fold:
        return ["made", "datetime", [*value.timetuple()[:6], value.microsecond]]
    if id(value) in seen or depth > DEEPEST:
        if strict:
            raise UnplainError
        return ["again", _name(kind)]

    def inner(each: Any) -> Any:
        return encode(each, digits=digits, strict=strict, depth=depth + 1, seen=(*seen, id(value)))

    if kind in (list, tuple):
        return [_TAGS[kind], [inner(each) for each in kind.__iter__(value)]]
    if kind in (set, frozenset):
        return [_TAGS[kind], sorted((inner(each) for each in kind.__iter__(value)), key=repr)]
    if kind is dict:
        return ["dict", [[inner(key), inner(each)] for key, each in value.items()]]
    if not strict and kind in _LAZY:
        return ["iterator", [inner(each) for each in itertools.islice(value, MOST_ITEMS)]]
    return _object(value, kind, inner, strict=strict)


def _object(value: Any, kind: type, inner: Callable[[Any], Any], *, strict: bool) -> Any:
    if strict and kind is types.FunctionType and _is_alone(value.__code__, value):
        code = base64.b64encode(marshal.dumps(value.__code__)).decode()
        return ["object", "", value.__name__, [["code", code]]]
    attributes = _held_values(value)
    if strict:
        bases = (type, types.FunctionType, types.ModuleType, BaseException, list, tuple, dict, set, str, int, float)
        is_plain = attributes is not None and not issubclass(kind, bases) and "__slots__" not in vars(kind)
        if not is_plain or _find(kind.__module__, kind.__qualname__) is not kind or hasattr(kind, "_member_map_"):
            raise UnplainError
    parts = [[name, inner(each)] for name, each in sorted((attributes or {}).items())]
    if issubclass(kind, dict):
        parts.append(["<items>", [[inner(key), inner(each)] for key, each in dict.items(value)]])
    elif issubclass(kind, (list, tuple)):
        base: Any = list if issubclass(kind, list) else tuple
        parts.append(["<items>", [inner(each) for each in base.__iter__(value)]])
    elif issubclass(kind, str):
        parts.append(["<text>", str.__str__(value)])
    elif issubclass(kind, int):
        parts.append(["<number>", int.__index__(value)])
    elif kind.__module__.partition(".")[0] in SHOWN:
        parts.append(["<shown>", repr(value)])
    return ["object", kind.__module__, kind.__qualname__, parts]


def _is_alone(code: types.CodeType, function: types.FunctionType) -> bool:
    """Does the function, a lambda of a test, use nothing but its arguments and what Python brings?"""
    inner = [each for each in code.co_consts if isinstance(each, types.CodeType)]
    outside = function.__closure__ or function.__defaults__ or function.__kwdefaults__
    is_global = any(name in function.__globals__ for name in code.co_names)
    return not outside and not is_global and all(_is_alone(each, function) for each in inner)


def _held_values(value: Any) -> dict[str, Any] | None:
    """Returns the attributes of the object itself; None if it can have none."""
    if isinstance(value, (type, types.FunctionType, types.BuiltinFunctionType, types.ModuleType)):
        return None
    try:
        found = object.__getattribute__(value, "__dict__")
    except Exception:  # noqa: BLE001 - a class may give its own
        return None
    return {str(name): each for name, each in found.items()} if type(found) is dict else None


def _name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def _find(module: str, qualname: str) -> Any:
    found: Any = importlib.import_module(module)
    for name in qualname.split("."):
        found = vars(found).get(name) if isinstance(found, (type, types.ModuleType)) else None
    return found


def decode(tree: Any, make: Callable[[str, str, dict[str, Any]], Any]) -> Any:
    """Returns the value of a tree; `make` makes an object of a module's class (qualified name) with these attributes.

    Raises `UnplainError` for a tree that has parts which are only shown.
    """
    if not isinstance(tree, list):
        return tree
    tag = tree[0]
    if tag == "int":
        return int(tree[1], 16)
    if tag == "bytes":
        return bytes.fromhex(tree[1])
    if tag in ("float", "complex"):
        return float(tree[1]) if tag == "float" else complex(tree[1])
    if tag == "made":
        return _MAKERS[tree[1]](*tree[2])
    if tag in _KINDS:
        return _KINDS[tag](decode(each, make) for each in tree[1])
    if tag == "dict":
        return {decode(key, make): decode(each, make) for key, each in tree[1]}
    if tag == "object" and not any(part[0].startswith("<") for part in tree[3]):
        return make(tree[1], tree[2], {name: decode(each, make) for name, each in tree[3]})
    raise UnplainError


def make_object(module: str, qualname: str, attributes: dict[str, Any]) -> Any:
    """Makes an object of a class without calling it; without a module, the function that `encode` took apart."""
    if not module:
        code = marshal.loads(base64.b64decode(attributes["code"]))  # noqa: S302 - in the sandbox, of its own test
        return types.FunctionType(code, {"__builtins__": builtins}, qualname)
    kind = _find(module, qualname)
    made = object.__new__(kind)
    for name, each in attributes.items():
        object.__setattr__(made, name, each)
    return made
