"""Writes the source of Hypothesis strategies for a function's parameters. Pure.

Values are small, bounded and quick to shrink.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from greenloop.core.python.literals import literal_value
from greenloop.plugins.function_calls import signature, value_kinds
from greenloop.plugins.function_calls.signature import FunctionHeader, Parameter
from greenloop.plugins.function_calls.value_kinds import ValueKind

ITEMS = 8  # of a container
FEW = 3  # below zero, for what is called like a count
FAR = 1000  # largest integer and float
LETTERS = "abcdeABC 0129.,-_!é"
# Where the project has no Hypothesis, greenloop's own is in this folder (greenloop_sandbox/bundled_hypothesis.py).
HYPOTHESIS = """try:
    import hypothesis
except ImportError:
    import os, sys, tempfile
    sys.path.append(os.environ.get("GREENLOOP_GUESTS", ""))
    os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = tempfile.gettempdir()"""
NAMES = "from hypothesis import HealthCheck, Phase, given, reject, settings, strategies as st"

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
    **{name: f"st.{name}s()" for name in ("date", "datetime", "time", "timedelta", "uuid")},
    "decimal": f"st.decimals(-{FAR}, {FAR}, places=2)",
    "fraction": f"st.fractions(-{FAR}, {FAR}, max_denominator=100)",
    "complex": f"st.complex_numbers(max_magnitude={FAR})",
    "bool": "st.booleans()",
    "none": "st.none()",
    "bytes": f"st.binary(max_size={ITEMS})",
}
_HASHABLE = frozenset(
    {"int", "float", "str", "bool", "bytes", "none", "any", "tuple", "tuples", "literal", "frozenset"}
)


def hypothesis_settings(examples: int) -> str:
    """The decorator of a test that tries this many inputs: always the same ones, and only the smallest failure."""
    # No database and no explain phase, which needs the tracer.
    return (
        f"settings(max_examples={examples}, derandomize=True, database=None, deadline=None, "
        "report_multiple_bugs=False, phases=[Phase.generate, Phase.shrink], suppress_health_check=list(HealthCheck))"
    )


@dataclass(frozen=True, kw_only=True)
class ParameterStrategy:
    """Strategy for the values of a parameter. `always_drawn`: always passed, else only where a property uses it."""

    name: str
    kind: str
    strategy: str
    value_kind: ValueKind
    always_drawn: bool = True


def build_strategies(
    head: FunctionHeader,
    module_text: str,
    module: str,
    types: Mapping[str, str],
    arguments: Mapping[str, Sequence[Any]] | None = None,
    *,
    wide: bool = False,
) -> tuple[tuple[ParameterStrategy, ...], tuple[str, ...]]:
    """Strategies of the parameters, and the names of required parameters for which there is no strategy.

    `module_text` is the text of the function's file, `module` the name that it is imported by; `types` are the types
    that the docstring names, and `arguments` are values of parameters beyond those of its examples. `wide`: values may
    be unlike these, where nothing states a limit.
    """
    examples = {**(arguments or {}), **signature.read_calls(head).arguments}
    strategies: list[ParameterStrategy] = []
    missing: list[str] = []
    for parameter in head.parameters:
        if parameter.kind == "doublestar":
            continue
        values = examples.get(parameter.name, ())
        kind = _value_kind(parameter, head, values, module_text, types.get(parameter.name, ""))
        builder = _StrategyBuilder(parameter.name, head.docstring, values, module, wide=wide)
        if kind is not None and (strategy := builder.strategy_of(kind)):
            if parameter.kind == "star":
                kind, strategy = ValueKind(name="list", parts=(kind,)), f"st.lists({strategy}, min_size=1, max_size=4)"
            strategies.append(
                ParameterStrategy(
                    name=parameter.name,
                    kind=parameter.kind,
                    strategy=strategy,
                    value_kind=kind,
                    always_drawn=not parameter.default,
                )
            )
        elif not parameter.default and parameter.kind != "star":
            missing.append(parameter.name)
    return tuple(strategies), tuple(missing)


def _value_kind(
    parameter: Parameter, head: FunctionHeader, examples: Sequence[Any], module_text: str, docstring_type: str
) -> ValueKind | None:
    """The kind by the first source that tells: annotation, docstring type, examples, default, the docstring's prose.

    A container that is named without its parts gets them from the examples.
    """
    example_kind = value_kinds.kind_of_values(examples)
    if parameter.annotation:
        named_kind = value_kinds.kind_of_annotation(parameter.annotation, module_text)
    else:
        named_kind = value_kinds.kind_in_prose(docstring_type)
    if named_kind is not None:
        takes_parts = not named_kind.parts and named_kind.name in ("list", "set", "frozenset", "tuples", "dict")
        if takes_parts and example_kind and example_kind.name in (named_kind.name, "tuples", "list"):
            return replace(named_kind, parts=example_kind.parts)
        return named_kind
    if parameter.annotation or example_kind:
        return None if parameter.annotation else example_kind
    default = [value for value in literal_value(parameter.default) if value is not None]
    if default_kind := value_kinds.kind_of_values(default):
        return default_kind
    required = [each for each in head.parameters if not each.default and each.kind in ("plain", "keyword")]
    return value_kinds.kind_in_prose(head.docstring.split("\n\n")[0]) if len(required) == 1 else None


@dataclass(frozen=True)
class _StrategyBuilder:
    """Builds a strategy from the known facts about a parameter's values. `inside`: it is for a part of a container.

    `wide`: the examples tell the kinds of values only.
    """

    parameter: str
    docstring: str
    examples: Sequence[Any]
    module: str
    inside: bool = False
    wide: bool = False

    def strategy_of(self, kind: ValueKind) -> str:
        """The strategy's source; empty for an unsupported kind."""
        name = kind.name
        if name in _STANDARD:
            return _STANDARD[name]
        if name in ("int", "any"):
            return self._integers()
        if name == "float":
            # Half floats: small sums are exact, so order and grouping make no difference.
            return f"st.floats({-FAR if self._low() < 0 else 0}, {FAR}, width=16)"
        if name == "str":
            text = f"st.text({self._alphabet()!r}, {self._least()}max_size={ITEMS})"
            return f"st.one_of(st.text('ab ', {self._least()}max_size=6), {text})" if self.wide else text
        if name == "literal":
            return f"st.sampled_from([{kind.text}])"
        if name == "own":
            return f"st.deferred(lambda: st.from_type(__import__({self.module!r}, fromlist=['_']).{kind.text}))"
        return self._container(kind)

    def _container(self, kind: ValueKind) -> str:
        name = kind.name
        unnamed = {"dict": ("str", "int"), "tuple": (), "union": ()}.get(name, ("int",))
        kinds = kind.parts or tuple(ValueKind(name=each) for each in unnamed)
        parts = list(map(replace(self, inside=True).strategy_of, kinds))
        if "" in parts:
            return ""
        if name in ("union", "tuple"):
            return f"st.{'one_of' if name == 'union' else 'tuples'}({', '.join(parts)})"
        size = f"{self._least()}max_size={4 if self.inside else ITEMS}"
        if name in ("set", "frozenset", "dict") and kinds[0].name not in _HASHABLE:
            return ""
        if name == "dict":
            return f"st.dictionaries({parts[0]}, {parts[1]}, {size})" if len(parts) == 2 else ""
        if name in ("set", "frozenset"):
            return f"st.{name}s({parts[0]}, {size})"
        strategy = f"st.lists({parts[0]}, {size}{self._unique()})"
        strategy += ".map(sorted)" if not self.inside and self._sorted() else ""
        return strategy if name == "list" else f"{strategy}.map(tuple)"

    def _integers(self) -> str:
        upper_bound = FAR
        if self._is_count():
            upper_bound = min(FAR, max(20, *(int(number) for number in self._numbers()), 0))
        numbers = f"st.integers({self._low()}, {upper_bound})"
        # Small numbers: values that are equal, and arguments that do not take long.
        return f"st.one_of(st.integers({max(self._low(), -5)}, 20), {numbers})" if self.wide else numbers

    def _is_count(self) -> bool:
        return not self.inside and bool(_COUNTS.match(self.parameter))

    def _numbers(self) -> list[float]:
        return [each for each in _leaves(self.examples) if isinstance(each, int | float) and not isinstance(each, bool)]

    def _low(self) -> int:
        says_negative = _NEGATIVE.search(self.docstring)
        if _POSITIVE.search(self.docstring) and not says_negative:
            return 1
        if _NOT_NEGATIVE.search(self.docstring):
            return 0
        if self._is_count():
            return -FEW if self.wide else 0
        if self.wide:
            return -FAR
        return 0 if not says_negative and min(self._numbers(), default=-1) >= 0 else -FAR

    def _alphabet(self) -> str:
        """The examples' own characters where they are special (brackets, digits, roman numerals)."""
        characters = {letter for text in _leaves(self.examples) if isinstance(text, str) for letter in text}
        if self.wide:
            return "".join(sorted(characters | {*LETTERS}))
        return "".join(sorted(characters)) if characters and not any(map(str.islower, characters)) else LETTERS

    def _least(self) -> str:
        has_empty = any(each in ("", [], (), set(), {}) for each in self.examples)
        says_filled = _FILLED.search(self.docstring) and not _EMPTY.search(self.docstring)
        return "min_size=1, " if says_filled and not has_empty and not self.inside else ""

    def _unique(self) -> str:
        pattern = rf"\b(distinct|unique)\b[^.]*\b{re.escape(self.parameter)}\b"
        return ", unique=True" if not self.inside and re.search(pattern, self.docstring) else ""

    def _sorted(self) -> bool:
        name = re.escape(self.parameter)
        return bool(
            re.search(rf"\b(a|the|given|two) sorted\b|\bsorted (list|array|sequence)s?\b[^.]*`*{name}", self.docstring)
            and not re.match(r"\W*(return|give|produce|sort)", self.docstring, re.IGNORECASE)
        )


def _leaves(values: object) -> Iterator[object]:
    """Yields everything inside nested containers."""
    if isinstance(values, list | tuple | set | frozenset | dict):
        for each in (*values, *values.values()) if isinstance(values, dict) else values:
            yield from _leaves(each)
    else:
        yield values
