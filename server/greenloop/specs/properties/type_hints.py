"""Turns an annotation into a Python expression that is true for values of that type. Pure."""

from __future__ import annotations

from greenloop.specs.properties import value_kinds
from greenloop.specs.properties.value_kinds import Form

_LOOKS_INSIDE = {"list": "list", "set": "set", "frozenset": "frozenset", "tuples": "tuple"}
_ABSTRACT = ("sequence", "iterable", "collection", "container", "mapping", "mutable", "abstractset", "number", "any")


def check(annotation: str, value: str) -> str:
    """The expression about `value`, a name; empty where the annotation cannot be tested.

    Integers are floats (PEP 484); unknown types are not tested.
    """
    lowered = annotation.lower()
    if any(word in lowered for word in _ABSTRACT):
        return ""
    kind = value_kinds.annotated(annotation)
    return _of(kind, value, 0) or "" if kind is not None else ""


def _of(form: Form, value: str, depth: int) -> str | None:
    """None: nothing to test."""
    name = form.name
    if name == "none":
        return f"{value} is None"
    if name == "int":
        return f"isinstance({value}, int)"
    if name == "float":
        return f"isinstance({value}, (int, float))"
    if name in ("str", "bool", "bytes", "complex"):
        return f"isinstance({value}, {name})"
    if name == "literal":
        return f"{value} in ({form.text},)"
    if name == "union":
        parts = [_of(item, value, depth) for item in form.inner]
        return None if None in parts else " or ".join(f"({part})" for part in parts)
    item = f"x{depth or ''}"
    if name in _LOOKS_INSIDE:
        container_check = f"isinstance({value}, {_LOOKS_INSIDE[name]})"
        item_check = _of(form.inner[0], item, depth + 1) if form.inner else None
        return f"{container_check} and all({item_check} for {item} in {value})" if item_check else container_check
    if name == "tuple":
        parts = [_of(part, f"{value}[{number}]", depth) for number, part in enumerate(form.inner)]
        length_check = f"isinstance({value}, tuple) and len({value}) == {len(form.inner)}"
        return " and ".join([length_check, *(f"({part})" for part in parts if part)])
    if name == "dict":
        container_check = f"isinstance({value}, dict)"
        if len(form.inner) != 2:
            return container_check
        sides = [
            (f"{value}", _of(form.inner[0], item, depth + 1)),
            (f"{value}.values()", _of(form.inner[1], item, depth + 1)),
        ]
        return " and ".join(
            [
                container_check,
                *(f"all({item_check} for {item} in {where})" for where, item_check in sides if item_check),
            ]
        )
    return None


def fits(annotation: str, value: object) -> bool:
    """Is a value of the annotated type, as far as `type_check_expression` can tell?"""
    kind = value_kinds.annotated(annotation) if check(annotation, "_") else None
    return kind is None or _fits(kind, value)


_CLASSES: dict[str, type | tuple[type, ...]] = {
    "none": type(None), "int": int, "float": (int, float), "str": str, "bool": bool, "bytes": bytes, "complex": complex,
    "list": list, "set": set, "frozenset": frozenset, "tuples": tuple, "tuple": tuple, "dict": dict,
}  # fmt: skip


def _fits(form: Form, value: object) -> bool:
    if form.name == "union":
        return any(_fits(each, value) for each in form.inner)
    if form.name == "literal":
        return repr(value) in (part.strip() for part in form.text.split(","))
    if form.name not in _CLASSES:
        return True
    if not isinstance(value, _CLASSES[form.name]):
        return False
    if isinstance(value, dict):
        sides = zip(form.inner, (list(value), list(value.values())), strict=False)
        return all(_fits(inner, each) for inner, side in sides for each in side)
    if form.name == "tuple" and isinstance(value, tuple):
        return len(value) == len(form.inner) and all(map(_fits, form.inner, value))
    if isinstance(value, list | set | frozenset | tuple) and form.inner:
        return all(_fits(form.inner[0], each) for each in value)
    return True
