"""What kind of value a parameter takes: read from its annotation, a type in prose, or example values. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass

from greenloop.core.source import tree


@dataclass(frozen=True, kw_only=True)
class Form:
    """`name` is int, float, str, bool, bytes, none, complex, list, set, frozenset, dict, tuple (of fixed length),
    tuples (of any), literal, union, any, own (a class that the module knows by `text`), or one of `TIMES`.

    `inner` are the forms of its parts; `text` is a literal's values or a class's name.
    """

    name: str
    inner: tuple[Form, ...] = ()
    text: str = ""


ANY = Form(name="any")
TIMES = ("date", "datetime", "time", "timedelta", "decimal", "fraction", "uuid")
_PLAIN = {
    **{name: name for name in ("int", "float", "str", "bool", "bytes", "complex", "none", *TIMES)},
    **dict.fromkeys(("list", "sequence", "mutablesequence", "collection", "iterable", "container", "array"), "list"),
    **dict.fromkeys(("set", "abstractset", "mutableset"), "set"),
    **dict.fromkeys(("dict", "mapping", "mutablemapping"), "dict"),
    **dict.fromkeys(("any", "object", "hashable"), "any"),
    **dict.fromkeys(("number", "real"), "float"),
    **dict.fromkeys(("integer", "integral"), "int"),
    **dict.fromkeys(("string", "text", "anystr"), "str"),
    **dict.fromkeys(("boolean",), "bool"),
    **dict.fromkeys(("dictionary",), "dict"),
    "frozenset": "frozenset",
    "tuple": "tuples",
}
_DEEPEST = 5


def annotated(text: str, module: str = "") -> Form | None:
    """The form that an annotation names; `module` is the text of the file, whose classes count."""
    parsed = tree(text.strip()) if text.strip() else None
    only = parsed.body[0] if isinstance(parsed, ast.Module) and len(parsed.body) == 1 else None
    return _of(only.value, module, _DEEPEST) if isinstance(only, ast.Expr) else None


def _of(node: ast.expr, module: str, depth: int) -> Form | None:
    if depth < 0:
        return None
    if isinstance(node, ast.Constant):
        if node.value is None:
            return Form(name="none")
        return annotated(node.value, module) if isinstance(node.value, str) else None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _union([_of(node.left, module, depth - 1), _of(node.right, module, depth - 1)])
    if isinstance(node, ast.Subscript):
        return _subscripted(node, module, depth)
    if not isinstance(node, ast.Name | ast.Attribute):
        return None
    name = ast.unparse(node)
    known = _PLAIN.get(name.rpartition(".")[2].lower())
    if known:
        return Form(name=known)
    if re.search(rf"^{re.escape(name)}\s*=\s*TypeVar\(", module, re.MULTILINE) or re.fullmatch(r"[A-Z]{1,2}", name):
        return ANY
    own = re.search(rf"^(class\s+{re.escape(name)}\b|(from|import)\s.*\b{re.escape(name)}\b)", module, re.MULTILINE)
    return Form(name="own", text=name) if own and isinstance(node, ast.Name) else None


def _subscripted(node: ast.Subscript, module: str, depth: int) -> Form | None:
    name = ast.unparse(node.value).rpartition(".")[2].lower()
    parts = list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
    if name == "literal":
        return Form(name="literal", text=", ".join(ast.unparse(part) for part in parts))
    if name in ("annotated", "final", "required", "notrequired"):
        return _of(parts[0], module, depth - 1)
    rest = [part for part in parts if not (isinstance(part, ast.Constant) and part.value is Ellipsis)]
    inner = [_of(part, module, depth - 1) for part in rest]
    if name == "union":
        return _union(inner)
    if name == "optional":
        return _union([*inner, Form(name="none")])
    known = [each for each in inner if each is not None]
    if name not in _PLAIN or len(known) < len(inner):
        return None
    if name == "tuple":
        return Form(name="tuple" if len(rest) == len(parts) else "tuples", inner=tuple(known))
    return Form(name=_PLAIN[name], inner=tuple(known))


def _union(parts: Iterable[Form | None]) -> Form | None:
    found: dict[Form, None] = {}
    for part in parts:
        if part is None:
            return None
        found.update(dict.fromkeys(part.inner if part.name == "union" else (part,)))
    kept = tuple(found)
    return kept[0] if len(kept) == 1 else Form(name="union", inner=kept)


def shown(values: Iterable[object]) -> Form | None:
    """The form that takes all these values; None where there are none, or some of an unknown kind."""
    forms = {_shown(value, _DEEPEST) for value in values}
    if not forms or None in forms:
        return None
    return _joined([form for form in forms if form is not None])


def _shown(value: object, depth: int) -> Form | None:
    if depth < 0:
        return None
    if value is None:
        return Form(name="none")
    name = type(value).__name__
    if isinstance(value, bool | int | float | str | bytes | complex):
        return Form(name=name)
    if isinstance(value, list | set | frozenset):
        inner = _joined([form for item in value if (form := _shown(item, depth - 1))])
        return Form(name=name, inner=(inner,) if inner else ())
    if isinstance(value, tuple):
        # What has parts of several kinds is a record, else it may be as long as it likes.
        parts = [form for item in value if (form := _shown(item, depth - 1))]
        if len(set(parts)) > 1 and len(parts) == len(value):
            return Form(name="tuple", inner=tuple(parts))
        return Form(name="tuples", inner=tuple(parts[:1]))
    if isinstance(value, dict):
        keys = _joined([form for item in value if (form := _shown(item, depth - 1))])
        values = _joined([form for item in value.values() if (form := _shown(item, depth - 1))])
        return Form(name="dict", inner=(keys, values) if keys and values else ())
    return None


def _joined(forms: list[Form]) -> Form | None:
    """One form for all: an empty container's says nothing beside a full one's, and integers are floats."""
    if not forms:
        return None
    kept = {form for form in forms if form.inner or not any(o.name == form.name and o.inner for o in forms)}
    names = {form.name for form in kept}
    if names == {"int", "float"}:
        return Form(name="float")
    if len(names) == 1 and len(kept) > 1 and (name := names.pop()) in ("list", "set", "frozenset", "tuples"):
        inner = _joined([form.inner[0] for form in kept if form.inner])
        return Form(name=name, inner=(inner,) if inner else ())
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
_INNER = {"number": "int", "word": "str", "char": "str", "character": "str", "list": "list", "sentence": "str"}


def worded(text: str) -> Form | None:
    """The form that prose names (`list of integers`, `a string`), where it names one only."""
    text = text.strip().rstrip(".")
    if (form := annotated(text.replace(" or ", " | "))) is not None and form.name != "own":
        return form
    if match := _CONTAINER.search(text):
        inner = match["inner"].lower()
        name = _INNER.get(inner) or _PLAIN.get(inner, "int")
        outer = _PLAIN.get(match["outer"].lower(), "list")
        return Form(name=outer, inner=(Form(name=name),))
    words = {_INNER.get(word.lower()) or _PLAIN.get(word.lower(), "str") for word in _ALONE.findall(text)}
    return Form(name=words.pop()) if len(words) == 1 else None
