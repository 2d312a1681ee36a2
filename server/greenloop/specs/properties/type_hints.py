"""Turns an annotation into a Python expression that is true for values of that type. Pure."""

from __future__ import annotations

from greenloop.specs.properties import value_kinds
from greenloop.specs.properties.value_kinds import ValueKind

_LOOKS_INSIDE = {"list": "list", "set": "set", "frozenset": "frozenset", "tuples": "tuple"}
_ABSTRACT = ("sequence", "iterable", "collection", "container", "mapping", "mutable", "abstractset", "number", "any")


def type_check_expression(annotation: str, value: str) -> str:
    """The expression about `value`, a name; empty where the annotation cannot be tested.

    Integers are floats (PEP 484); unknown types are not tested.
    """
    lowered = annotation.lower()
    if any(word in lowered for word in _ABSTRACT):
        return ""
    kind = value_kinds.kind_of_annotation(annotation)
    return _check_kind(kind, value, 0) or "" if kind is not None else ""


def _check_kind(kind: ValueKind, value: str, depth: int) -> str | None:
    """None: nothing to test."""
    name = kind.name
    if name == "none":
        return f"{value} is None"
    if name == "int":
        return f"isinstance({value}, int)"
    if name == "float":
        return f"isinstance({value}, (int, float))"
    if name in ("str", "bool", "bytes", "complex"):
        return f"isinstance({value}, {name})"
    if name == "literal":
        return f"{value} in ({kind.text},)"
    if name == "union":
        parts = [_check_kind(item, value, depth) for item in kind.parts]
        return None if None in parts else " or ".join(f"({part})" for part in parts)
    item = f"x{depth or ''}"
    if name in _LOOKS_INSIDE:
        container_check = f"isinstance({value}, {_LOOKS_INSIDE[name]})"
        item_check = _check_kind(kind.parts[0], item, depth + 1) if kind.parts else None
        return f"{container_check} and all({item_check} for {item} in {value})" if item_check else container_check
    if name == "tuple":
        parts = [_check_kind(part, f"{value}[{number}]", depth) for number, part in enumerate(kind.parts)]
        length_check = f"isinstance({value}, tuple) and len({value}) == {len(kind.parts)}"
        return " and ".join([length_check, *(f"({part})" for part in parts if part)])
    if name == "dict":
        container_check = f"isinstance({value}, dict)"
        if len(kind.parts) != 2:
            return container_check
        sides = [
            (f"{value}", _check_kind(kind.parts[0], item, depth + 1)),
            (f"{value}.values()", _check_kind(kind.parts[1], item, depth + 1)),
        ]
        return " and ".join(
            [
                container_check,
                *(f"all({item_check} for {item} in {where})" for where, item_check in sides if item_check),
            ]
        )
    return None


def is_of_type(annotation: str, value: object) -> bool:
    """Is a value of the annotated type, as far as `type_check_expression` can tell?"""
    kind = value_kinds.kind_of_annotation(annotation) if type_check_expression(annotation, "_") else None
    return kind is None or _is_of_kind(kind, value)


_CLASSES: dict[str, type | tuple[type, ...]] = {
    "none": type(None), "int": int, "float": (int, float), "str": str, "bool": bool, "bytes": bytes, "complex": complex,
    "list": list, "set": set, "frozenset": frozenset, "tuples": tuple, "tuple": tuple, "dict": dict,
}  # fmt: skip


def _is_of_kind(kind: ValueKind, value: object) -> bool:
    if kind.name == "union":
        return any(_is_of_kind(each, value) for each in kind.parts)
    if kind.name == "literal":
        return repr(value) in (part.strip() for part in kind.text.split(","))
    if kind.name not in _CLASSES:
        return True
    if not isinstance(value, _CLASSES[kind.name]):
        return False
    if isinstance(value, dict):
        sides = zip(kind.parts, (list(value), list(value.values())), strict=False)
        return all(_is_of_kind(inner, each) for inner, side in sides for each in side)
    if kind.name == "tuple" and isinstance(value, tuple):
        return len(value) == len(kind.parts) and all(map(_is_of_kind, kind.parts, value))
    if isinstance(value, list | set | frozenset | tuple) and kind.parts:
        return all(_is_of_kind(kind.parts[0], each) for each in value)
    return True
