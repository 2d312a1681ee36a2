"""Writes the source of Hypothesis strategies for a function's parameters. Pure.

Values are small, bounded and quick to shrink.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from greenloop.specs.properties import example_calls, value_kinds
from greenloop.specs.properties.example_calls import ExampleCalls
from greenloop.specs.properties.signature import FunctionHeader, Parameter
from greenloop.specs.properties.value_kinds import ValueKind

ITEMS = 8  # of a container
FAR = 1000  # largest integer and float
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
class ParameterStrategy:
    """How values of a parameter are made. `always_drawn`: always passed, else only where a property uses it."""

    name: str
    kind: str
    strategy: str
    value_kind: ValueKind
    always_drawn: bool = True

    @property
    def is_mutable(self) -> bool:
        return _is_mutable(self.value_kind)


def build_strategies(
    head: FunctionHeader, module_text: str, module: str, types: dict[str, str]
) -> tuple[tuple[ParameterStrategy, ...], tuple[str, ...]]:
    """Strategies of the parameters, and the names of required parameters for which there is no strategy.

    `module_text` is the text of the function's file, `module` the name that it is imported by; `types` are the types
    that the docstring names.
    """
    examples = example_calls.read_calls(head)
    strategies: list[ParameterStrategy] = []
    missing: list[str] = []
    for parameter in head.parameters:
        if parameter.kind == "doublestar":
            continue
        strategy = _build_strategy(parameter, head, examples, module_text, module, types.get(parameter.name, ""))
        if strategy is not None:
            strategies.append(strategy)
        elif not parameter.default and parameter.kind != "star":
            missing.append(parameter.name)
    return tuple(strategies), tuple(missing)


def _build_strategy(
    parameter: Parameter,
    head: FunctionHeader,
    example_calls: ExampleCalls,
    module: str,
    dotted: str,
    docstring_type: str,
) -> ParameterStrategy | None:
    examples = example_calls.arguments.get(parameter.name, ())
    kind = _value_kind(parameter, head, examples, module, docstring_type)
    if kind is None:
        return None
    builder = _StrategyBuilder(parameter.name, head.docstring, examples, dotted)
    strategy = builder.strategy_of(kind)
    if strategy is None:
        return None
    if parameter.kind == "star":
        kind, strategy = ValueKind(name="list", parts=(kind,)), f"st.lists({strategy}, min_size=1, max_size=4)"
    always_drawn = not parameter.default
    return ParameterStrategy(
        name=parameter.name, kind=parameter.kind, strategy=strategy, value_kind=kind, always_drawn=always_drawn
    )


def _value_kind(
    parameter: Parameter, head: FunctionHeader, examples: Sequence[Any], module: str, docstring_type: str
) -> ValueKind | None:
    """The kind by the first source that tells: annotation, docstring type, examples, default, the docstring's prose.

    A container that is named without its parts gets them from the examples.
    """
    named_kind = (
        value_kinds.kind_of_annotation(parameter.annotation, module)
        if parameter.annotation
        else value_kinds.kind_in_prose(docstring_type)
    )
    example_kind = value_kinds.kind_of_values(examples)
    if named_kind is not None:
        return _with_parts(named_kind, example_kind)
    if parameter.annotation:
        return None
    if example_kind is not None:
        return example_kind
    default_kind = value_kinds.kind_of_values([value]) if (value := _constant(parameter.default)) is not None else None
    if default_kind is not None:
        return default_kind
    required = [each for each in head.parameters if not each.default and each.kind in ("plain", "keyword")]
    prose = head.docstring.split("\n\n")[0] if head.docstring else ""
    return value_kinds.kind_in_prose(prose) if len(required) == 1 else None


def _with_parts(named_kind: ValueKind, example_kind: ValueKind | None) -> ValueKind:
    if named_kind.parts or example_kind is None or example_kind.name not in (named_kind.name, "tuples", "list"):
        return named_kind
    return (
        replace(named_kind, parts=example_kind.parts)
        if named_kind.name in ("list", "set", "frozenset", "tuples", "dict")
        else named_kind
    )


def _constant(default: str) -> Any:
    try:
        return ast.literal_eval(default) if default else None
    except (ValueError, SyntaxError):
        return None


def _is_mutable(kind: ValueKind) -> bool:
    return kind.name in ("list", "set", "dict", "own") or any(_is_mutable(each) for each in kind.parts)


@dataclass(frozen=True)
class _StrategyBuilder:
    """Builds the strategy of one parameter from the known facts about its values."""

    parameter: str
    docstring: str
    examples: Sequence[Any]
    dotted: str

    def strategy_of(self, form: ValueKind, *, inside: bool = False) -> str | None:
        """The strategy's source; None for an unsupported kind. `is_part`: it is for a part of a container."""
        name = form.name
        if name in _STANDARD:
            return _STANDARD[name]
        if name in ("int", "any"):
            return self._integers(inside=inside)
        if name == "float":
            # Half floats: small sums are exact, so order and grouping make no difference.
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
            return self._each(form.parts, "st.one_of({})")
        if name == "tuple":
            return self._each(form.parts, "st.tuples({})")
        return self._container(form, inside=inside)

    def _each(self, forms: Sequence[ValueKind], around: str) -> str | None:
        parts = [self.strategy_of(form, inside=True) for form in forms]
        return None if None in parts else around.format(", ".join(str(part) for part in parts))

    def _container(self, form: ValueKind, *, inside: bool) -> str | None:
        part_kinds = form.parts or (
            (ValueKind(name="str"), ValueKind(name="int")) if form.name == "dict" else (ValueKind(name="int"),)
        )
        part_strategies = [self.strategy_of(each, inside=True) for each in part_kinds]
        if None in part_strategies:
            return None
        size = f"{self._least(inside=inside)}max_size={4 if inside else ITEMS}"
        if form.name in ("set", "frozenset", "dict") and part_kinds[0].name not in _HASHABLE:
            return None
        if form.name == "dict":
            return (
                f"st.dictionaries({part_strategies[0]}, {part_strategies[1]}, {size})"
                if len(part_strategies) == 2
                else None
            )
        if form.name in ("set", "frozenset"):
            return f"st.{form.name}s({part_strategies[0]}, {size})"
        strategy = f"st.lists({part_strategies[0]}, {size}{self._unique(inside=inside)})"
        strategy += ".map(sorted)" if not inside and self._sorted() else ""
        return strategy if form.name == "list" else f"{strategy}.map(tuple)"

    def _integers(self, *, inside: bool) -> str:
        numbers = list(_numbers_in(self.examples))
        upper_bound = FAR
        if not inside and _COUNTS.match(self.parameter):
            upper_bound = min(FAR, max(20, *(int(number) for number in numbers), 0))
        return f"st.integers({self._low(inside=inside)}, {upper_bound})"

    def _low(self, *, inside: bool) -> int:
        if _POSITIVE.search(self.docstring) and not _NEGATIVE.search(self.docstring):
            return 1
        if _NOT_NEGATIVE.search(self.docstring) or (not inside and _COUNTS.match(self.parameter)):
            return 0
        numbers = list(_numbers_in(self.examples))
        return 0 if numbers and min(numbers) >= 0 and not _NEGATIVE.search(self.docstring) else -FAR

    def _alphabet(self) -> str:
        """The examples' own characters where they are special (brackets, digits, roman numerals)."""
        characters = "".join(_texts_in(self.examples))
        return (
            "".join(sorted(set(characters)))
            if characters and not any(each.islower() for each in characters)
            else LETTERS
        )

    def _least(self, *, inside: bool) -> str:
        sized = [each for each in self.examples if isinstance(each, str | list | tuple | set | dict)]
        if inside or any(not each for each in sized) or _EMPTY.search(self.docstring):
            return ""
        return "min_size=1, " if _FILLED.search(self.docstring) else ""

    def _unique(self, *, inside: bool) -> str:
        pattern = rf"\b(distinct|unique)\b[^.]*\b{re.escape(self.parameter)}\b"
        return ", unique=True" if not inside and re.search(pattern, self.docstring) else ""

    def _sorted(self) -> bool:
        name = re.escape(self.parameter)
        return bool(
            re.search(rf"\b(a|the|given|two) sorted\b|\bsorted (list|array|sequence)s?\b[^.]*`*{name}", self.docstring)
            and not re.match(r"\W*(return|give|produce|sort)", self.docstring, re.IGNORECASE)
        )


def _numbers_in(values: object) -> Iterator[float]:
    if isinstance(values, int | float) and not isinstance(values, bool):
        yield values
    elif isinstance(values, dict):
        yield from _numbers_in([*values, *values.values()])
    elif isinstance(values, list | tuple | set | frozenset):
        for each in values:
            yield from _numbers_in(each)


def _texts_in(values: object) -> Iterator[str]:
    if isinstance(values, str):
        yield values
    elif isinstance(values, dict):
        yield from _texts_in([*values, *values.values()])
    elif isinstance(values, list | tuple | set | frozenset):
        for each in values:
            yield from _texts_in(each)
