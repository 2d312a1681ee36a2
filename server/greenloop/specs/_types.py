"""An annotation as a Python expression that is true of values of that type. Pure."""

from __future__ import annotations

from greenloop.specs import _forms
from greenloop.specs._forms import Form

_LOOKS_INSIDE = {"list": "list", "set": "set", "frozenset": "frozenset", "tuples": "tuple"}
_ABSTRACT = ("sequence", "iterable", "collection", "container", "mapping", "mutable", "abstractset", "number", "any")


def check(annotation: str, value: str) -> str:
    """The expression, in which `value` stands for itself; empty where the annotation says nothing that can be tested.

    Integers are floats (PEP 484), and what is not known is not tested.
    """
    lowered = annotation.lower()
    if any(word in lowered for word in _ABSTRACT):
        return ""
    form = _forms.annotated(annotation)
    return _of(form, value, 0) or "" if form is not None else ""


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
        parts = [_of(each, value, depth) for each in form.inner]
        return None if None in parts else " or ".join(f"({part})" for part in parts)
    each = f"x{depth or ''}"
    if name in _LOOKS_INSIDE:
        outer = f"isinstance({value}, {_LOOKS_INSIDE[name]})"
        inner = _of(form.inner[0], each, depth + 1) if form.inner else None
        return f"{outer} and all({inner} for {each} in {value})" if inner else outer
    if name == "tuple":
        parts = [_of(part, f"{value}[{number}]", depth) for number, part in enumerate(form.inner)]
        sized = f"isinstance({value}, tuple) and len({value}) == {len(form.inner)}"
        return " and ".join([sized, *(f"({part})" for part in parts if part)])
    if name == "dict":
        outer = f"isinstance({value}, dict)"
        if len(form.inner) != 2:
            return outer
        sides = [
            (f"{value}", _of(form.inner[0], each, depth + 1)),
            (f"{value}.values()", _of(form.inner[1], each, depth + 1)),
        ]
        return " and ".join([outer, *(f"all({inner} for {each} in {where})" for where, inner in sides if inner)])
    return None


def fits(annotation: str, value: object) -> bool:
    """Is a value of the annotated type, as far as `check` would find out?"""
    form = _forms.annotated(annotation) if check(annotation, "_") else None
    return form is None or _fits(form, value)


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
