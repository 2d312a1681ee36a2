"""Determines a parameter's kind of value from its annotation, prose, or example values. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass

from greenloop.core.python.ast_source import parse_module


@dataclass(frozen=True, kw_only=True)
class ValueKind:
    """`name` is int, float, str, bool, bytes, none, complex, list, set, frozenset, dict, tuple (of fixed length),
    tuples (of any length), literal, union, any, own (a class that the module knows as `text`), or a class of the
    standard library in `_SYNONYMS`.

    `parts` are the kinds of its parts; `text` is a literal's values or a class's name.
    """

    name: str
    parts: tuple[ValueKind, ...] = ()
    text: str = ""

    @property
    def is_mutable(self) -> bool:
        return self.name in ("list", "set", "dict", "own") or any(part.is_mutable for part in self.parts)


_SYNONYMS = {
    "list": ("sequence", "mutablesequence", "collection", "iterable", "container", "array"), "tuples": ("tuple",),
    "set": ("abstractset", "mutableset"), "dict": ("mapping", "mutablemapping", "dictionary"),
    "any": ("object", "hashable"), "float": ("number", "real"), "int": ("integer", "integral"),
    "str": ("string", "text", "anystr"), "bool": ("boolean",),
    **dict.fromkeys(("bytes", "complex", "none", "date", "datetime", "time", "timedelta", "decimal", "fraction"), ()),
    **dict.fromkeys(("uuid", "frozenset"), ()),
}  # fmt: skip
_PLAIN = {word: kind for kind, words in _SYNONYMS.items() for word in (kind, *words)}
_DEEPEST = 5


def kind_of_annotation(text: str, module: str = "") -> ValueKind | None:
    """The kind that an annotation names; `module` is the text of the file, whose classes are known."""
    parsed = parse_module(text.strip()) if text.strip() else None
    statement = parsed.body[0] if isinstance(parsed, ast.Module) and len(parsed.body) == 1 else None
    return _kind_of_node(statement.value, module, _DEEPEST) if isinstance(statement, ast.Expr) else None


def _kind_of_node(node: ast.expr, module: str, depth: int) -> ValueKind | None:
    if depth < 0:
        return None
    if isinstance(node, ast.Constant):
        if node.value is None:
            return ValueKind(name="none")
        return kind_of_annotation(node.value, module) if isinstance(node.value, str) else None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _union([_kind_of_node(node.left, module, depth - 1), _kind_of_node(node.right, module, depth - 1)])
    if isinstance(node, ast.Subscript):
        return _kind_of_subscript(node, module, depth)
    if not isinstance(node, ast.Name | ast.Attribute):
        return None
    name = ast.unparse(node)
    plain_kind = _PLAIN.get(name.rpartition(".")[2].lower())
    if plain_kind:
        return ValueKind(name=plain_kind)
    if re.search(rf"^{re.escape(name)}\s*=\s*TypeVar\(", module, re.MULTILINE) or re.fullmatch(r"[A-Z]{1,2}", name):
        return ValueKind(name="any")
    own_class = re.search(
        rf"^(class\s+{re.escape(name)}\b|(from|import)\s.*\b{re.escape(name)}\b)", module, re.MULTILINE
    )
    return ValueKind(name="own", text=name) if own_class and isinstance(node, ast.Name) else None


def _kind_of_subscript(node: ast.Subscript, module: str, depth: int) -> ValueKind | None:
    name = ast.unparse(node.value).rpartition(".")[2].lower()
    parts = list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
    if name == "literal":
        return ValueKind(name="literal", text=", ".join(ast.unparse(part) for part in parts))
    if name in ("annotated", "final", "required", "notrequired"):
        return _kind_of_node(parts[0], module, depth - 1)
    plain_parts = [part for part in parts if not (isinstance(part, ast.Constant) and part.value is Ellipsis)]
    part_kinds = [_kind_of_node(part, module, depth - 1) for part in plain_parts]
    if name == "union":
        return _union(part_kinds)
    if name == "optional":
        return _union([*part_kinds, ValueKind(name="none")])
    known_kinds = [each for each in part_kinds if each is not None]
    if name not in _PLAIN or len(known_kinds) < len(part_kinds):
        return None
    if name == "tuple":
        return ValueKind(name="tuple" if len(plain_parts) == len(parts) else "tuples", parts=tuple(known_kinds))
    return ValueKind(name=_PLAIN[name], parts=tuple(known_kinds))


def _union(parts: Iterable[ValueKind | None]) -> ValueKind | None:
    members: dict[ValueKind, None] = {}
    for part in parts:
        if part is None:
            return None
        members.update(dict.fromkeys(part.parts if part.name == "union" else (part,)))
    kinds = tuple(members)
    return kinds[0] if len(kinds) == 1 else ValueKind(name="union", parts=kinds)


def kind_of_values(values: Iterable[object]) -> ValueKind | None:
    """The kind of all these values; None where there are none, or some of an unknown kind."""
    kinds = {_kind_of_value(value, _DEEPEST) for value in values}
    return None if None in kinds else _join_kinds([kind for kind in kinds if kind is not None])


def _kinds_of(values: Iterable[object], depth: int) -> list[ValueKind]:
    return [kind for value in values if (kind := _kind_of_value(value, depth))]


def _kind_of_value(value: object, depth: int) -> ValueKind | None:
    if depth < 0:
        return None
    if value is None:
        return ValueKind(name="none")
    name = type(value).__name__
    if isinstance(value, bool | int | float | str | bytes | complex):
        return ValueKind(name=name)
    if isinstance(value, tuple):
        # A tuple with parts of several kinds is a record of fixed length, any other may have any length.
        kinds = _kinds_of(value, depth - 1)
        is_record = len(set(kinds)) > 1 and len(kinds) == len(value)
        return ValueKind(name="tuple" if is_record else "tuples", parts=tuple(kinds if is_record else kinds[:1]))
    if not isinstance(value, list | set | frozenset | dict):
        return None
    sides = (value, value.values()) if isinstance(value, dict) else (value,)
    parts = [kind for side in sides if (kind := _join_kinds(_kinds_of(side, depth - 1)))]
    return ValueKind(name=name, parts=tuple(parts) if len(parts) == len(sides) else ())


def _join_kinds(kinds: list[ValueKind]) -> ValueKind | None:
    """Joins the kinds into one: an empty container adds nothing to a full one, and integers count as floats."""
    if not kinds:
        return None
    kept = {form for form in kinds if form.parts or not any(o.name == form.name and o.parts for o in kinds)}
    names = {form.name for form in kept}
    if names == {"int", "float"}:
        return ValueKind(name="float")
    if len(names) == 1 and len(kept) > 1 and (name := names.pop()) in ("list", "set", "frozenset", "tuples"):
        item_kind = _join_kinds([form.parts[0] for form in kept if form.parts])
        return ValueKind(name=name, parts=(item_kind,) if item_kind else ())
    return _union(sorted(kept, key=repr))


_CONTAINER = re.compile(
    r"\b(?P<outer>list|array|sequence|tuple|set|iterable)s?\s+(?:of|with|containing)\s+(?:\w+\s+){0,2}?"
    r"(?P<inner>int(?:eger)?|float|number|str(?:ing)?|word|bool(?:ean)?|list|char(?:acter)?)s?\b",
    re.IGNORECASE,
)
_ALONE = re.compile(
    r"\b(?P<word>string|integer|int|float|number|list|array|dictionary|dict|boolean|text|word|sentence)\b",
    re.IGNORECASE,
)
_IN_PROSE = {**_PLAIN, "number": "int", "word": "str", "char": "str", "character": "str", "sentence": "str"}


def kind_in_prose(text: str) -> ValueKind | None:
    """The kind that prose names (`list of integers`, `a string`), where it names exactly one."""
    text = text.strip().rstrip(".")
    if (kind := kind_of_annotation(text.replace(" or ", " | "))) is not None and kind.name != "own":
        return kind
    if container := _CONTAINER.search(text):
        part = ValueKind(name=_IN_PROSE.get(container["inner"].lower(), "int"))
        return ValueKind(name=_PLAIN.get(container["outer"].lower(), "list"), parts=(part,))
    kinds = {_IN_PROSE.get(word.lower(), "str") for word in _ALONE.findall(text)}
    return ValueKind(name=kinds.pop()) if len(kinds) == 1 else None
