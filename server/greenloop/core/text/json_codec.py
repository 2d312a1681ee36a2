"""Converts records to plain JSON values and back: `to_json(record)`, `from_json(Kind, value)`.

Field names are kept. Enums become their values, tuples lists, paths strings, bytes base64, sets sorted lists.
A mapping whose keys are not strings becomes a list of `[key, value]` pairs.
Floats that JSON cannot express become null. On the way back unknown fields are dropped and missing ones take their
defaults, so that records of older and newer versions stay readable.
This module must not know where the values are stored or sent.
"""

from __future__ import annotations

import base64
import math
import types
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from pathlib import PurePath
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")


def to_json(value: Any) -> Any:
    """The value as dicts, lists, strings, numbers, booleans and None; any other object becomes its `str`."""
    if isinstance(value, Enum):
        return to_json(value.value)
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if is_dataclass(value) and not isinstance(value, type):
        return {item.name: to_json(getattr(value, item.name)) for item in fields(value)}
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    if isinstance(value, Mapping):
        if all(isinstance(key, str) for key in value):
            return {str(key): to_json(item) for key, item in value.items()}
        return [[to_json(key), to_json(item)] for key, item in value.items()]
    if isinstance(value, (set, frozenset)):
        return sorted((to_json(item) for item in value), key=repr)
    if isinstance(value, Sequence):
        return [to_json(item) for item in value]
    return str(value)


def from_json(kind: type[T], value: Any) -> T:
    """A `kind` from the output of `to_json`. Raises `ValueError` where the value cannot be one."""
    try:
        result: T = _decode(kind, value)
    except (TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"This is no {getattr(kind, '__name__', kind)}: {error}") from error
    return result


_hints = cache(get_type_hints)


def _decode(kind: Any, value: Any) -> Any:
    origin = get_origin(kind)
    if kind is Any:
        return value
    if origin in (Union, types.UnionType):
        options = [option for option in get_args(kind) if option is not type(None)]
        return None if value is None else _decode(options[0], value)
    if origin is not None:
        return _decode_collection(origin, get_args(kind), value)
    if is_dataclass(kind) and isinstance(kind, type):
        hints = _hints(kind)
        values = {item.name: _decode(hints[item.name], value[item.name]) for item in fields(kind) if item.name in value}
        return kind(**values)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind(value)
    if isinstance(kind, type) and issubclass(kind, PurePath):
        return kind(value)
    if kind is bytes:
        return base64.b64decode(value)
    if kind is float:
        return math.nan if value is None else float(value)
    if kind in (str, int, bool) and not isinstance(value, kind):
        raise ValueError(f"{value!r} is no {kind.__name__}")
    return value


def _decode_collection(origin: Any, arguments: tuple[Any, ...], value: Any) -> Any:
    if issubclass(origin, Mapping):
        pairs = value.items() if isinstance(value, Mapping) else value
        return {_decode(arguments[0], key): _decode(arguments[1], item) for key, item in pairs}
    if isinstance(value, (str, Mapping)):
        raise ValueError(f"{value!r} is not a list")  # noqa: TRY004 - one kind of error for every unusable value
    if issubclass(origin, tuple):
        if len(arguments) == 2 and arguments[1] is Ellipsis:
            return tuple(_decode(arguments[0], item) for item in value)
        return tuple(_decode(argument, item) for argument, item in zip(arguments, value, strict=True))
    # Sequences come back as tuples: records are frozen.
    items = tuple(_decode(arguments[0], item) for item in value)
    return set(items) if issubclass(origin, (set, frozenset)) else items


# -- nested tables ----------------------------------------------------------------------------------------------------


def flatten(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Each value with its dotted key."""
    for name, value in table.items():
        if isinstance(value, Mapping):
            yield from flatten(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def overlay(base: Any, part: Any) -> Any:
    """The values of `part`, and those of `base` that it does not have."""
    if isinstance(base, dict) and isinstance(part, dict):
        return base | {key: overlay(base.get(key), value) for key, value in part.items()}
    return part
