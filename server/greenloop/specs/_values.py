"""Hypothesis strategies, as source text, for the parameters of a function: small, bounded, quick to shrink. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from greenloop.specs import _calls, _forms
from greenloop.specs._calls import Shown
from greenloop.specs._forms import Form
from greenloop.specs._function import Head, Parameter

ITEMS = 8  # of a container
FAR = 1000  # integers and floats up to
LETTERS = "abcdeABC 0129.,-_!é"

_COUNTS = re.compile(r"^(n|k|m|count|size|length|len|width|height|depth|index|idx|times|limit|num|rows|cols|steps?)$")
_POSITIVE = re.compile(r"\b(positive|natural)\b", re.IGNORECASE)
_NOT_NEGATIVE = re.compile(r"\b(non-?negative|not negative|natural)\b", re.IGNORECASE)
_NEGATIVE = re.compile(r"(?<!non)(?<!non-)(?<!not )\bnegative\b", re.IGNORECASE)
_FILLED = re.compile(
    r"\b(non-?empty|not empty|max\w*|min\w*|largest|smallest|biggest|greatest|longest|shortest|mean|average|median|"
    r"mode|first|last|most|least)\b",
    re.IGNORECASE,
)
_EMPTY = re.compile(r"(?<!non)(?<!non-)(?<!not )\bempty\b", re.IGNORECASE)
_STANDARD = {
    "date": "st.dates()",
    "datetime": "st.datetimes()",
    "time": "st.times()",
    "timedelta": "st.timedeltas()",
    "decimal": f"st.decimals(-{FAR}, {FAR}, places=2)",
    "fraction": f"st.fractions(-{FAR}, {FAR}, max_denominator=100)",
    "uuid": "st.uuids()",
    "complex": f"st.complex_numbers(max_magnitude={FAR})",
    "bool": "st.booleans()",
    "none": "st.none()",
    "bytes": f"st.binary(max_size={ITEMS})",
}
_HASHABLE = frozenset(
    {"int", "float", "str", "bool", "bytes", "none", "any", "tuple", "tuples", "literal", "frozenset"}
)


@dataclass(frozen=True, kw_only=True)
class Values:
    """How values for a parameter are made. `drawn`: by default it gets one, else only where a property names it."""

    name: str
    kind: str
    strategy: str
    form: Form
    drawn: bool = True

    @property
    def mutable(self) -> bool:
        return _mutable(self.form)


def values(head: Head, module: str, dotted: str, types: dict[str, str]) -> tuple[tuple[Values, ...], tuple[str, ...]]:
    """Strategies of the parameters, and the names of those that need a value and for which none can be made up.

    `module` is the text of the function's file, `dotted` the name under which it is imported; `types` are the types
    that the docstring names.
    """
    shown = _calls.read(head)
    made: list[Values] = []
    without: list[str] = []
    for parameter in head.parameters:
        if parameter.kind == "doublestar":
            continue
        found = _made(parameter, head, shown, module, dotted, types.get(parameter.name, ""))
        if found is not None:
            made.append(found)
        elif not parameter.default and parameter.kind != "star":
            without.append(parameter.name)
    return tuple(made), tuple(without)


def _made(parameter: Parameter, head: Head, shown: Shown, module: str, dotted: str, said: str) -> Values | None:
    examples = shown.arguments.get(parameter.name, ())
    form = _form(parameter, head, examples, module, said)
    if form is None:
        return None
    maker = _Maker(parameter.name, head.docstring, examples, dotted)
    strategy = maker.of(form)
    if strategy is None:
        return None
    if parameter.kind == "star":
        form, strategy = Form(name="list", inner=(form,)), f"st.lists({strategy}, min_size=1, max_size=4)"
    drawn = not parameter.default
    return Values(name=parameter.name, kind=parameter.kind, strategy=strategy, form=form, drawn=drawn)


def _form(parameter: Parameter, head: Head, examples: Sequence[Any], module: str, said: str) -> Form | None:
    """By trust: annotation, what the docstring calls its type, its examples, the default, the docstring's prose.

    A container that is named without its parts gets them from the examples.
    """
    known = _forms.annotated(parameter.annotation, module) if parameter.annotation else _forms.worded(said)
    seen = _forms.shown(examples)
    if known is not None:
        return _filled(known, seen)
    if parameter.annotation:
        return None
    if seen is not None:
        return seen
    default = _forms.shown([value]) if (value := _constant(parameter.default)) is not None else None
    if default is not None:
        return default
    needed = [each for each in head.parameters if not each.default and each.kind in ("plain", "keyword")]
    prose = head.docstring.split("\n\n")[0] if head.docstring else ""
    return _forms.worded(prose) if len(needed) == 1 else None


def _filled(known: Form, seen: Form | None) -> Form:
    if known.inner or seen is None or seen.name not in (known.name, "tuples", "list"):
        return known
    return replace(known, inner=seen.inner) if known.name in ("list", "set", "frozenset", "tuples", "dict") else known


def _constant(default: str) -> Any:
    try:
        return ast.literal_eval(default) if default else None
    except (ValueError, SyntaxError):
        return None


def _mutable(form: Form) -> bool:
    return form.name in ("list", "set", "dict", "own") or any(_mutable(each) for each in form.inner)


@dataclass(frozen=True)
class _Maker:
    """Strategies of one parameter, with what is known of its values."""

    parameter: str
    docstring: str
    examples: Sequence[Any]
    dotted: str

    def of(self, form: Form, *, inside: bool = False) -> str | None:
        """Source text of the strategy; None where there is none. `inside`: of a part of a container."""
        name = form.name
        if name in _STANDARD:
            return _STANDARD[name]
        if name in ("int", "any"):
            return self._integers(inside=inside)
        if name == "float":
            # Half floats: sums of a few are exact, so that order and grouping change nothing.
            return (
                f"st.floats(-{FAR}, {FAR}, width=16)"
                if self._low(inside=inside) < 0
                else f"st.floats(0, {FAR}, width=16)"
            )
        if name == "str":
            return f"st.text({self._alphabet()!r}, {self._least(inside=inside)}max_size={ITEMS})"
        if name == "literal":
            return f"st.sampled_from([{form.text}])"
        if name == "own":
            return f"st.deferred(lambda: st.from_type(__import__({self.dotted!r}, fromlist=['_']).{form.text}))"
        if name == "union":
            return self._each(form.inner, "st.one_of({})")
        if name == "tuple":
            return self._each(form.inner, "st.tuples({})")
        return self._container(form, inside=inside)

    def _each(self, forms: Sequence[Form], around: str) -> str | None:
        parts = [self.of(form, inside=True) for form in forms]
        return None if None in parts else around.format(", ".join(str(part) for part in parts))

    def _container(self, form: Form, *, inside: bool) -> str | None:
        inner = form.inner or ((Form(name="str"), Form(name="int")) if form.name == "dict" else (Form(name="int"),))
        parts = [self.of(each, inside=True) for each in inner]
        if None in parts:
            return None
        size = f"{self._least(inside=inside)}max_size={4 if inside else ITEMS}"
        if form.name in ("set", "frozenset", "dict") and inner[0].name not in _HASHABLE:
            return None
        if form.name == "dict":
            return f"st.dictionaries({parts[0]}, {parts[1]}, {size})" if len(parts) == 2 else None
        if form.name in ("set", "frozenset"):
            return f"st.{form.name}s({parts[0]}, {size})"
        made = f"st.lists({parts[0]}, {size}{self._unique(inside=inside)})"
        made += ".map(sorted)" if not inside and self._sorted() else ""
        return made if form.name == "list" else f"{made}.map(tuple)"

    def _integers(self, *, inside: bool) -> str:
        numbers = list(_numbers(self.examples))
        high = FAR
        if not inside and _COUNTS.match(self.parameter):
            high = min(FAR, max(20, *(int(number) for number in numbers), 0))
        return f"st.integers({self._low(inside=inside)}, {high})"

    def _low(self, *, inside: bool) -> int:
        if _POSITIVE.search(self.docstring) and not _NEGATIVE.search(self.docstring):
            return 1
        if _NOT_NEGATIVE.search(self.docstring) or (not inside and _COUNTS.match(self.parameter)):
            return 0
        numbers = list(_numbers(self.examples))
        return 0 if numbers and min(numbers) >= 0 and not _NEGATIVE.search(self.docstring) else -FAR

    def _alphabet(self) -> str:
        """The examples' own characters where they are of a special kind (brackets, digits, roman numerals)."""
        seen = "".join(_texts(self.examples))
        return "".join(sorted(set(seen))) if seen and not any(each.islower() for each in seen) else LETTERS

    def _least(self, *, inside: bool) -> str:
        sized = [each for each in self.examples if isinstance(each, str | list | tuple | set | dict)]
        if inside or any(not each for each in sized) or _EMPTY.search(self.docstring):
            return ""
        return "min_size=1, " if _FILLED.search(self.docstring) else ""

    def _unique(self, *, inside: bool) -> str:
        wanted = rf"\b(distinct|unique)\b[^.]*\b{re.escape(self.parameter)}\b"
        return ", unique=True" if not inside and re.search(wanted, self.docstring) else ""

    def _sorted(self) -> bool:
        name = re.escape(self.parameter)
        return bool(
            re.search(rf"\b(a|the|given|two) sorted\b|\bsorted (list|array|sequence)s?\b[^.]*`*{name}", self.docstring)
            and not re.match(r"\W*(return|give|produce|sort)", self.docstring, re.IGNORECASE)
        )


def _numbers(given: object) -> Iterator[float]:
    if isinstance(given, int | float) and not isinstance(given, bool):
        yield given
    elif isinstance(given, dict):
        yield from _numbers([*given, *given.values()])
    elif isinstance(given, list | tuple | set | frozenset):
        for each in given:
            yield from _numbers(each)


def _texts(given: object) -> Iterator[str]:
    if isinstance(given, str):
        yield given
    elif isinstance(given, dict):
        yield from _texts([*given, *given.values()])
    elif isinstance(given, list | tuple | set | frozenset):
        for each in given:
            yield from _texts(each)
