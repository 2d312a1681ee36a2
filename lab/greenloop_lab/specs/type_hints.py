"""Turns an annotation into a Python expression that is true for values of that type. Pure."""

from __future__ import annotations

from typing import Any

from greenloop.plugins.function_calls import value_kinds
from greenloop.plugins.function_calls.value_kinds import ValueKind

_ABSTRACT = ("sequence", "iterable", "collection", "container", "mapping", "mutable", "abstractset", "number", "any")
# Integers are floats (PEP 484).
_CLASSES: dict[str, type | tuple[type, ...]] = {
    "none": type(None), "int": int, "float": (int, float), "str": str, "bool": bool, "bytes": bytes, "complex": complex,
    "list": list, "set": set, "frozenset": frozenset, "tuples": tuple, "tuple": tuple, "dict": dict,
}  # fmt: skip
_SOURCES = {"float": "(int, float)", "tuples": "tuple"}  # where the class has another name than the kind


def type_check_expression(annotation: str, value: str) -> str:
    """The expression about `value`, a name; empty where the annotation cannot be tested. Unknown types are not."""
    kind = _testable_kind(annotation)
    return _check_kind(kind, value) if kind else ""


def is_of_type(annotation: str, value: object) -> bool:
    """Is a value of the annotated type, as far as `type_check_expression` can tell?"""
    kind = _testable_kind(annotation)
    return kind is None or not _check_kind(kind, "_") or _is_of_kind(kind, value)


def _testable_kind(annotation: str) -> ValueKind | None:
    is_abstract = any(word in annotation.lower() for word in _ABSTRACT)
    return None if is_abstract else value_kinds.kind_of_annotation(annotation)


def _check_kind(kind: ValueKind, value: str, depth: int = 0) -> str:
    """The expression; empty: nothing to test."""
    name = kind.name
    if name == "union":
        parts = [_check_kind(part, value, depth) for part in kind.parts]
        return "" if "" in parts else " or ".join(f"({part})" for part in parts)
    if name == "literal":
        return f"{value} in ({kind.text},)"
    if name == "none":
        return f"{value} is None"
    if name not in _CLASSES:
        return ""
    checks = [f"isinstance({value}, {_SOURCES.get(name, name)})"]
    if name == "tuple":
        parts = [_check_kind(part, f"{value}[{number}]", depth) for number, part in enumerate(kind.parts)]
        checks += [f"len({value}) == {len(kind.parts)}", *(f"({part})" for part in parts if part)]
    else:
        item = f"x{depth or ''}"
        for part, items in zip(kind.parts, (value, f"{value}.values()"), strict=False):
            if check := _check_kind(part, item, depth + 1):
                checks.append(f"all({check} for {item} in {items})")
    return " and ".join(checks)


def _is_of_kind(kind: ValueKind, value: Any) -> bool:
    if kind.name == "union":
        return any(_is_of_kind(each, value) for each in kind.parts)
    if kind.name == "literal":
        return repr(value) in (part.strip() for part in kind.text.split(","))
    if kind.name in _CLASSES and not isinstance(value, _CLASSES[kind.name]):
        return False
    if kind.name == "tuple":
        return len(value) == len(kind.parts) and all(map(_is_of_kind, kind.parts, value))
    sides = (value, value.values()) if isinstance(value, dict) else (value,)
    return all(_is_of_kind(part, item) for part, side in zip(kind.parts, sides, strict=False) for item in side)
