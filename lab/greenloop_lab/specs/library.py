"""Suggests common properties from a function's name, docstring and types. Pure.

A wrong property does more harm than a missing one: each needs a plain keyword and is dropped for any other word that
could change the meaning.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from greenloop.plugins.function_calls.signature import FunctionHeader
from greenloop.plugins.function_calls.value_kinds import ValueKind
from greenloop.plugins.function_calls.value_strategies import ParameterStrategy
from greenloop_lab.specs import type_hints
from greenloop_lab.specs.inverses import find_inverse
from greenloop_lab.specs.property_tests import LIBRARY, Property

# Words that may give a common property another meaning.
_TWISTS = re.compile(
    r"\b(except|unless|only|without|ignor\w+|exclud\w+|remov\w+ (all|any|the)|instead|but|nested|depth|level|chunks?|"
    r"random\w*|in[- ]place|at least|at most|every other|k-?th|n-?th|alternat\w+)\b",
    re.IGNORECASE,
)
_LIMITS = re.compile(
    r"\b(valid|invalid|raises?|must|assum\w+|error|exception|undefined|should be|expect\w*)\b", re.IGNORECASE
)
_FLAT = ("int", "float", "str", "bool", "any")
_NORMALISING = (
    "strip", "trim", "normalize", "normalise", "slugify", "slug", "canonicalize", "canonicalise", "sanitize",
    "lowercase", "uppercase", "lower", "upper", "squeeze", "collapse", "dedent",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class PropertyContext:
    """The facts that properties are derived from. `module_text` is the whole module, `module` its dotted name.

    `result_kind` is the kind of the function's result, where known; `shows_calls`: the docstring shows calls.
    """

    head: FunctionHeader
    strategies: Sequence[ParameterStrategy]
    result_kind: ValueKind | None
    module_text: str
    module: str
    shows_calls: bool = False

    @property
    def name_words(self) -> tuple[str, ...]:
        """The words of the function's name."""
        return tuple(re.findall(r"[a-z]+|\d+", re.sub(r"([a-z])([A-Z])", r"\1_\2", self.head.name).lower()))

    @property
    def summary(self) -> str:
        """The first paragraph of the docstring, in one line."""
        text = " ".join(self.head.docstring.split("\n\n")[0].split(">>>")[0].split())
        return re.sub(r"^write a (python )?function (to|that|which) ", "", text, flags=re.IGNORECASE)

    @property
    def only_value(self) -> ParameterStrategy | None:
        """The only value that a call needs, if it needs exactly one."""
        required = [each for each in self.strategies if each.always_drawn]
        return required[0] if len(required) == 1 and required[0].kind == "plain" else None

    def returns_kind(self, *names: str) -> bool:
        return self.result_kind is not None and self.result_kind.name in names

    def says(self, pattern: str) -> bool:
        """Does the first paragraph contain these words?"""
        return bool(re.search(pattern, self.summary))

    def mentions_word(self, *names: str) -> bool:
        """Is one of the words in the function's name, or at the start of its docstring?"""
        first_word = re.match(r"(\w+)", self.summary)
        stem = re.sub(r"(ing|es|s|ed)$", "", first_word[1].lower()) if first_word else ""
        return any(name in self.name_words or stem in (name, name.rstrip("e")) for name in names)


def suggest_properties(context: PropertyContext) -> tuple[Property, ...]:
    """The suggested properties, each name at most once."""
    inverse = find_inverse(context.head, context.only_value, context.module_text, context.module)
    suggested = [*([inverse] if inverse else ()), *_unchanged_inputs(context)]
    if not _TWISTS.search(context.summary):
        for family in (_arranging, _reversing, _cleaning, _bounding, _counting, _aggregating):
            suggested += family(context)
    suggested += _result_type(context)
    unique: dict[str, Property] = {}
    for each in suggested or _no_exception(context):
        unique.setdefault(each.name, each)
    return tuple(unique.values())


def _property(name: str, expression: str, *imports: str, condition: str = "") -> Property:
    return Property(name=name, expression=expression, source=LIBRARY, imports=imports, condition=condition)


def _sequence_name(values: ParameterStrategy | None) -> str:
    """The parameter's name if it is a list of plain values, else an empty text."""
    if values is None or values.value_kind.name not in ("list", "tuples"):
        return ""
    return values.name if all(each.name in _FLAT for each in values.value_kind.parts[:1]) else ""


def _permutation(items: str) -> Property:
    return _property("permutation", f"Counter(result) == Counter({items})", "from collections import Counter")


def _idempotent(context: PropertyContext) -> Property:
    return _property("idempotent", f"{context.head.name}(result) == result")


def _arranging(context: PropertyContext) -> Iterator[Property]:
    """Sorting, shuffling, removing duplicates."""
    items = _sequence_name(context.only_value)
    if not items or not context.returns_kind("list", "tuples"):
        return
    has_key = r"\b(by|key|uniq\w+|distinct|dup\w+|the first|accord\w+)\b"
    if context.mentions_word("sort", "sorted") and not context.says(has_key):
        yield _permutation(items)
        is_descending = context.says(r"\b(descending|decreasing|falling|reverse\w*|largest first|high\w* to low\w*)\b")
        if not (is_descending and context.says(r"\b(ascending|increasing|rising)\b")):
            order = ">=" if is_descending else "<="
            yield _property("ordered", f"all(a {order} b for a, b in zip(result, result[1:]))")
        yield _idempotent(context)
    if context.mentions_word("shuffle", "permute", "rearrange", "reorder"):
        yield _permutation(items)
    removes_duplicates = context.says(
        r"\b(remov\w+|drop\w*|delet\w+|without|eliminat\w+)\b.{0,12}\b(duplicate|repeat)"
    ) and not context.says(r"\b(all|consecutive|adjacent)\b")
    if removes_duplicates or context.mentions_word("dedupe", "dedup", "deduplicate"):
        yield _property("nothing twice", "len(set(result)) == len(result)")
        yield _property("nothing new", f"set(result) <= set({items})")
        yield _idempotent(context)


def _reversing(context: PropertyContext) -> Iterator[Property]:
    only = context.only_value
    is_partial = context.says(r"\b(words?|vowels?|each|every|group|between|digits?|integer|bits?|order of)\b")
    if only is None or is_partial or not context.mentions_word("reverse", "reversed"):
        return
    if only.value_kind.name in ("list", "tuples", "str") and context.returns_kind(only.value_kind.name):
        yield _property("its own inverse", f"{context.head.name}(result) == {only.name}")
        yield _property("length kept", f"len(result) == len({only.name})")


def _cleaning(context: PropertyContext) -> Iterator[Property]:
    """Normalising a text that is already normalised leaves it unchanged."""
    if context.only_value is None or context.only_value.value_kind.name != "str" or not context.returns_kind("str"):
        return
    only_inspects = re.match(r"(find|check|match|search|test|count|is|whether)\w*\b", context.summary, re.IGNORECASE)
    if not only_inspects and context.mentions_word(*_NORMALISING):
        yield _idempotent(context)


_LOW = ("low", "lo", "lower", "minimum", "min_value", "minval", "min_val", "lower_bound", "mn", "floor")
_HIGH = ("high", "hi", "upper", "maximum", "max_value", "maxval", "max_val", "upper_bound", "mx", "ceiling")


def _bounding(context: PropertyContext) -> Iterator[Property]:
    names = [each.name for each in context.strategies if each.always_drawn]
    low_name = next((name for name in names if name in _LOW), "")
    high_name = next((name for name in names if name in _HIGH), "")
    if len(names) != 3 or not low_name or not high_name or not context.mentions_word("clamp", "clip", "limit", "bound"):
        return
    value_name = next(name for name in names if name not in (low_name, high_name))
    bounds = f"{low_name} <= {high_name}"
    yield _property("within its bounds", f"{low_name} <= result <= {high_name}", condition=bounds)
    bounds = f"{low_name} <= {value_name} <= {high_name}"
    yield _property("unchanged within its bounds", f"result == {value_name}", condition=bounds)


def _counting(context: PropertyContext) -> Iterator[Property]:
    counts = re.match(
        r"(counts?\b|how many\b|(returns?|finds?|gets?|computes?|calculates?|gives?)?\s*(the )?(total )?"
        r"(number|count|length) of\b)",
        context.summary,
        re.IGNORECASE,
    )
    if counts and context.returns_kind("int") and not re.search(r"-1|\bsign", context.summary):
        yield _property("not negative", "result >= 0")


_ALL = r"(?:all |the )*(?:elements?|numbers?|values?|items?|integers?)?(?: (?:in|of|from))?"
_WHERE = (
    r"(?: ?(?:the |a |an |given |input )*(?:list|array|sequence|tuple|iterable|numbers|integers|values|collection))"
)
_OF = r"(?: of (?:a |an |the )?(?:list|array|sequence|integers|numbers|floats|values|ints|items|elements))?"
_BRUTE_FORCE = {
    "sum": rf"sum of {_ALL}{_WHERE}?{_OF}",
    "max": rf"(?:maximum|largest|biggest|greatest|highest) {_ALL}{_WHERE}{_OF}",
    "min": rf"(?:minimum|smallest|lowest|least) {_ALL}{_WHERE}{_OF}",
}


def _aggregating(context: PropertyContext) -> Iterator[Property]:
    """Sum, maximum, minimum: the whole first sentence must match, so that no word in it can change the meaning."""
    items = _sequence_name(context.only_value)
    item_kinds = context.only_value.value_kind.parts if context.only_value else ()
    if not items or (item_kinds and item_kinds[0].name not in ("int", "float", "any")):
        return
    name = re.escape(items)
    sentence = re.sub(rf"\b(in|of|from) `*{name}`*$", r"\1 the list", context.summary.split(". ")[0].rstrip(" ."))
    sentence = re.sub(rf"\s*`*\b{name}\b`*$", "", sentence).lower()
    prefix = r"(?:write a (?:python )?function to )?(?:returns?|finds?|computes?|calculates?|gets?|gives?)?\s*(?:the )?"
    for function, pattern in _BRUTE_FORCE.items():
        if re.fullmatch(prefix + pattern, sentence):
            yield _property("equals a brute force", f"result == {function}({items})")
            return


def _unchanged_inputs(context: PropertyContext) -> Iterator[Property]:
    """Arguments stay unchanged, and equal input gives equal results, where the docstring says so."""
    says_unchanged = re.search(
        r"\b(does not|doesn't|do not|without|never|not) (modif\w+|chang\w+|mutat\w+|alter\w+)|\bnew (list|dict|set)\b"
        r"|\b(is|are) (left )?(unchanged|untouched)\b",
        context.head.docstring,
        re.IGNORECASE,
    )
    drawn = [each for each in context.strategies if each.always_drawn]
    if any(each.kind != "plain" for each in drawn):
        return
    mutable = next((each.name for each in drawn if each.value_kind.is_mutable), "")
    if says_unchanged and mutable and not re.search(r"\bin[- ]place\b", context.head.docstring):
        call = f"{context.head.name}({', '.join('given' if each.name == mutable else each.name for each in drawn)})"
        expression = f"(lambda given: ({call}, given)[1])(deepcopy({mutable})) == {mutable}"
        yield _property("arguments unchanged", expression, "from copy import deepcopy")
    if drawn and re.search(r"\b(deterministic|same input|reproducib\w+)\b", context.head.docstring, re.IGNORECASE):
        arguments = ", ".join(each.name for each in drawn)
        yield _property("deterministic", f"{context.head.name}({arguments}) == result")


def _result_type(context: PropertyContext) -> Iterator[Property]:
    """The type of the result; where the docstring shows calls, the part `hints` checks their results instead."""
    if not context.shows_calls and (check := type_hints.type_check_expression(context.head.returns, "result")):
        yield _property("type of the result", check)


def _no_exception(context: PropertyContext) -> Iterator[Property]:
    """No exception for any input, where every type is known and no invalid input is mentioned."""
    is_typed = all(each.annotation for each in context.head.parameters)
    if is_typed and context.strategies and not _LIMITS.search(context.head.docstring):
        yield _property("no exception", "")
