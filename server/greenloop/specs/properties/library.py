"""Suggests common properties from a function's name, docstring and types. Pure.

A wrong property does more harm than a missing one: each needs a plain keyword and is dropped for any other word that
could change the meaning.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from greenloop.core.python.ast_source import FUNCTIONS, parse_module
from greenloop.core.python.stubs import is_stub
from greenloop.specs.properties import type_hints, value_strategies
from greenloop.specs.properties.property_tests import Property
from greenloop.specs.properties.signature import FunctionHeader, Parameter
from greenloop.specs.properties.value_kinds import ValueKind
from greenloop.specs.properties.value_strategies import ParameterStrategy

LIBRARY = "library"
# Words that may give a common property another meaning.
_TWISTS = re.compile(
    r"\b(except|unless|only|without|ignor\w+|exclud\w+|remov\w+ (all|any|the)|instead|but|nested|depth|level|chunks?|"
    r"random\w*|in[- ]place|at least|at most|every other|k-?th|n-?th|alternat\w+)\b",
    re.IGNORECASE,
)
_LIMITS = re.compile(
    r"\b(valid|invalid|raises?|must|assum\w+|error|exception|undefined|should be|expect\w*)\b", re.IGNORECASE
)
# forward and backward: the second undoes the first
_INVERSES = (
    ("encode", "decode"), ("compress", "decompress"), ("serialize", "deserialize"), ("escape", "unescape"),
    ("quote", "unquote"), ("pack", "unpack"), ("dump", "load"), ("dumps", "loads"), ("encrypt", "decrypt"),
    ("to_string", "from_string"), ("to_dict", "from_dict"), ("format", "parse"), ("render", "parse"),
    ("stringify", "parse"), ("encipher", "decipher"),
)  # fmt: skip
_NUMBERS = ("int", "integer", "number", "decimal", "dec")


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

    def mentions_word(self, *names: str) -> bool:
        """Is one of the words in the function's name, or at the start of its docstring?"""
        first_word = re.match(r"(\w+)", self.summary)
        stem = re.sub(r"(ing|es|s|ed)$", "", first_word[1].lower()) if first_word else ""
        return any(name in self.name_words or stem in (name, name.rstrip("e")) for name in names)


def suggest_properties(context: PropertyContext) -> tuple[Property, ...]:
    """The suggested properties, each name at most once."""
    is_plain = not _TWISTS.search(context.summary)
    suggested = [*_inverse(context), *_unchanged_inputs(context)]
    if is_plain:
        suggested += [
            *_arranging(context),
            *_cleaning(context),
            *_bounding(context),
            *_counting(context),
            *_aggregating(context),
        ]
    suggested += _result_type(context)
    suggested += [] if suggested else _no_exception(context)
    unique = {each.name: each for each in reversed(suggested)}
    return tuple(each for each in suggested if unique.get(each.name) is each)


def _property(name: str, expression: str, *imports: str, condition: str = "") -> Property:
    return Property(name=name, expression=expression, source=LIBRARY, imports=imports, condition=condition)


def _sequence_name(values: ParameterStrategy | None) -> str:
    """The parameter's name if it is a list of plain values, else an empty text."""
    if values is None or values.value_kind.name not in ("list", "tuples"):
        return ""
    is_flat = not values.value_kind.parts or values.value_kind.parts[0].name in ("int", "float", "str", "bool", "any")
    return values.name if is_flat else ""


def _arranging(context: PropertyContext) -> Iterator[Property]:
    """Sorting, reversing, shuffling, removing duplicates."""
    items = _sequence_name(context.only_value)
    returns_sequence = context.returns_kind("list", "tuples") and items
    if (
        returns_sequence
        and context.mentions_word("sort", "sorted")
        and not re.search(r"\b(by|key|uniq\w+|distinct|dup\w+|the first|accord\w+)\b", context.summary)
    ):
        yield _property("permutation", f"Counter(result) == Counter({items})", "from collections import Counter")
        is_descending = re.search(
            r"\b(descending|decreasing|falling|reverse\w*|largest first|high\w* to low\w*)\b", context.summary
        )
        if not (is_descending and re.search(r"\b(ascending|increasing|rising)\b", context.summary)):
            order = ">=" if is_descending else "<="
            yield _property("ordered", f"all(a {order} b for a, b in zip(result, result[1:]))")
        yield _property("idempotent", f"{context.head.name}(result) == result")
    reverses_all = not re.search(
        r"\b(words?|vowels?|each|every|group|between|digits?|integer|bits?|order of)\b", context.summary
    )
    parameter = context.only_value.name if context.only_value else ""
    same_kind = (
        context.only_value is not None
        and context.result_kind is not None
        and context.result_kind.name == context.only_value.value_kind.name
    )
    if (
        context.mentions_word("reverse", "reversed")
        and reverses_all
        and same_kind
        and context.returns_kind("list", "tuples", "str")
    ):
        yield _property("its own inverse", f"{context.head.name}(result) == {parameter}")
        yield _property("length kept", f"len(result) == len({parameter})")
    if returns_sequence and context.mentions_word("shuffle", "permute", "rearrange", "reorder"):
        yield _property("permutation", f"Counter(result) == Counter({items})", "from collections import Counter")
    removes_duplicates = re.search(
        r"\b(remov\w+|drop\w*|delet\w+|without|eliminat\w+)\b.{0,12}\b(duplicate|repeat)", context.summary
    )
    if returns_sequence and (
        context.mentions_word("dedupe", "dedup", "deduplicate")
        or (removes_duplicates and not re.search(r"\b(all|consecutive|adjacent)\b", context.summary))
    ):
        yield _property("nothing twice", "len(set(result)) == len(result)")
        yield _property("nothing new", f"set(result) <= set({items})")
        yield _property("idempotent", f"{context.head.name}(result) == result")


def _cleaning(context: PropertyContext) -> Iterator[Property]:
    """Normalising a text that is already normalised leaves it unchanged."""
    if context.only_value is None or context.only_value.value_kind.name != "str" or not context.returns_kind("str"):
        return
    verbs = ("strip", "trim", "normalize", "normalise", "slugify", "slug", "canonicalize", "canonicalise", "sanitize")
    only_inspects = re.match(r"(find|check|match|search|test|count|is|whether)\w*\b", context.summary, re.IGNORECASE)
    if not only_inspects and context.mentions_word(
        *verbs, "lowercase", "uppercase", "lower", "upper", "squeeze", "collapse", "dedent"
    ):
        yield _property("idempotent", f"{context.head.name}(result) == result")


_LOW = ("low", "lo", "lower", "minimum", "min_value", "minval", "min_val", "lower_bound", "mn", "floor")
_HIGH = ("high", "hi", "upper", "maximum", "max_value", "maxval", "max_val", "upper_bound", "mx", "ceiling")


def _bounding(context: PropertyContext) -> Iterator[Property]:
    names = [each.name for each in context.strategies if each.always_drawn]
    low_name = next((name for name in names if name in _LOW), "")
    high_name = next((name for name in names if name in _HIGH), "")
    if len(names) != 3 or not low_name or not high_name or not context.mentions_word("clamp", "clip", "limit", "bound"):
        return
    value_name = next(name for name in names if name not in (low_name, high_name))
    ordered_bounds = f"{low_name} <= {high_name}"
    yield _property("within its bounds", f"{low_name} <= result <= {high_name}", condition=ordered_bounds)
    within_bounds = f"{low_name} <= {value_name} <= {high_name}"
    yield _property("unchanged within its bounds", f"result == {value_name}", condition=within_bounds)


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
_FORCED = (
    (rf"sum of {_ALL}{_WHERE}?{_OF}", "sum({})", ("sum",)),
    (rf"(?:maximum|largest|biggest|greatest|highest) {_ALL}{_WHERE}{_OF}", "max({})", ("max", "largest")),
    (rf"(?:minimum|smallest|lowest|least) {_ALL}{_WHERE}{_OF}", "min({})", ("min", "smallest")),
)


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
    for pattern, expression, _words in _FORCED:
        if re.fullmatch(prefix + pattern.replace("  ", " "), sentence):
            yield _property("equals a brute force", f"result == {expression.format(items)}")
            return


def _unchanged_inputs(context: PropertyContext) -> Iterator[Property]:
    """Arguments stay unchanged, and equal input gives equal results, where the docstring says so."""
    says_unchanged = re.search(
        r"\b(does not|doesn't|do not|without|never|not) (modif\w+|chang\w+|mutat\w+|alter\w+)|\bnew (list|dict|set)\b"
        r"|\b(is|are) (left )?(unchanged|untouched)\b",
        context.head.docstring,
        re.IGNORECASE,
    )
    mutable = [each for each in context.strategies if each.always_drawn and each.is_mutable and each.kind == "plain"]
    if says_unchanged and mutable and not re.search(r"\bin[- ]place\b", context.head.docstring):
        for each in mutable[:1]:
            call = _call_on(context, each.name)
            if call:
                expression = f"(lambda given: ({call}, given)[1])(deepcopy({each.name})) == {each.name}"
                yield _property("arguments unchanged", expression, "from copy import deepcopy")
    if re.search(r"\b(deterministic|same input|reproducib\w+)\b", context.head.docstring, re.IGNORECASE):
        arguments = ", ".join(each.name for each in context.strategies if each.always_drawn and each.kind == "plain")
        if len(arguments.split(", ")) == sum(each.always_drawn for each in context.strategies):
            yield _property("deterministic", f"{context.head.name}({arguments}) == result")


def _call_on(context: PropertyContext, name: str) -> str:
    drawn = [each for each in context.strategies if each.always_drawn]
    if any(each.kind != "plain" for each in drawn):
        return ""
    return f"{context.head.name}({', '.join('given' if each.name == name else each.name for each in drawn)})"


def _result_type(context: PropertyContext) -> Iterator[Property]:
    """The type of the result; where the docstring shows calls, the part `hints` checks their results instead."""
    check = (
        type_hints.type_check_expression(context.head.returns, "result")
        if context.head.returns and not context.shows_calls
        else ""
    )
    if check:
        yield _property("type of the result", check)


def _no_exception(context: PropertyContext) -> list[Property]:
    """No exception for any input, where every type is known and no invalid input is mentioned."""
    is_typed = all(each.annotation for each in context.head.parameters)
    if not is_typed or not context.strategies or _LIMITS.search(context.head.docstring):
        return []
    return [_property("no exception", "")]


# -- inverse functions of the same module ---------------------------------------------------------------------------


def _inverse(context: PropertyContext) -> Iterator[Property]:
    """`backward(forward(x)) == x`, where one of the two is the target and the module implements the other."""
    target = context.head.name
    for forward, backward in _pairs(target):
        sibling = backward if target == forward else forward
        node = _is_written(context.module_text, sibling)
        if node is None or context.only_value is None:
            continue
        value = context.only_value if target == forward else _first_argument(node, context)
        if value is None or value.value_kind.name in ("float", "any"):
            return  # nearly equal is not equal
        if target == forward:
            yield Property(
                name=f"{backward} undoes {forward}",
                expression=f"{backward}(result) == {value.name}",
                source=LIBRARY,
                module_names=(sibling,),
            )
        else:
            yield Property(
                name=f"{backward} undoes {forward}",
                expression=f"result == {value.name}",
                source=LIBRARY,
                module_names=(sibling,),
                inputs=(value,),
                call=f"{backward}({forward}({value.name}))",
            )
        return


def _pairs(name: str) -> Iterator[tuple[str, str]]:
    """Pairs of names (forward, backward), one of which is this name."""
    for forward, backward in _INVERSES:
        for known_name in (forward, backward):
            if match := re.fullmatch(rf"((?:.*_)?){known_name}((?:_.*)?)", name):
                before, after = match.groups()
                yield f"{before}{forward}{after}", f"{before}{backward}{after}"
    if match := re.fullmatch(r"([a-z0-9]+)_to_([a-z0-9]+)", name):
        # A number has one text, but several texts may be read as the same number.
        number_word = next((each for each in match.groups() if each in _NUMBERS), "")
        if number_word:
            text_word = match[1] if match[2] == number_word else match[2]
            yield f"{number_word}_to_{text_word}", f"{text_word}_to_{number_word}"


def _is_written(text: str, name: str) -> ast.FunctionDef | None:
    parsed = parse_module(text)
    body = parsed.body if isinstance(parsed, ast.Module) else []
    node = next((each for each in body if isinstance(each, FUNCTIONS) and each.name == name), None)
    return node if isinstance(node, ast.FunctionDef) and not is_stub(node) else None


def _first_argument(node: ast.FunctionDef, context: PropertyContext) -> ParameterStrategy | None:
    """The strategy for the only argument that the inverse function needs."""
    arguments = node.args
    required = [*arguments.posonlyargs, *arguments.args][
        : len(arguments.posonlyargs) + len(arguments.args) - len(arguments.defaults)
    ]
    if len(required) != 1 or arguments.vararg or any(each is None for each in arguments.kw_defaults):
        return None
    annotation = ast.unparse(required[0].annotation) if required[0].annotation else ""
    head = FunctionHeader(
        name=node.name,
        qualname=node.name,
        parameters=(Parameter(name=required[0].arg, annotation=annotation),),
        returns="",
        docstring=ast.get_docstring(node) or "",
        signature="",
        line=1,
    )
    strategies, _without = value_strategies.build_strategies(head, context.module_text, context.module, {})
    return strategies[0] if strategies else None
