"""Common properties, where a function's name, its docstring's words and its types suggest them. Pure.

A wrong property does more harm than a missing one: each asks for a plain word and gives way to any other word that
could change what is meant.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from greenloop.core.source import FUNCTIONS, tree
from greenloop.core.unwritten import is_stub
from greenloop.specs import _types, _values
from greenloop.specs._forms import Form
from greenloop.specs._function import Head, Parameter
from greenloop.specs._trials import Property
from greenloop.specs._values import Values

LIBRARY = "library"
# Words after which a common property may be meant in another way.
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
class About:
    """What the library goes by. `text` is the whole module, `dotted` the name it is imported by.

    `result` is the form of what the function gives, where known; `calls`: the docstring shows calls.
    """

    head: Head
    values: Sequence[Values]
    result: Form | None
    text: str
    dotted: str
    calls: bool = False

    @property
    def words(self) -> tuple[str, ...]:
        """Of the function's name."""
        return tuple(re.findall(r"[a-z]+|\d+", re.sub(r"([a-z])([A-Z])", r"\1_\2", self.head.name).lower()))

    @property
    def said(self) -> str:
        """The first paragraph of the docstring, in one line."""
        text = " ".join(self.head.docstring.split("\n\n")[0].split(">>>")[0].split())
        return re.sub(r"^write a (python )?function (to|that|which) ", "", text, flags=re.IGNORECASE)

    @property
    def only(self) -> Values | None:
        """The one value that a call needs."""
        drawn = [each for each in self.values if each.drawn]
        return drawn[0] if len(drawn) == 1 and drawn[0].kind == "plain" else None

    def gives(self, *names: str) -> bool:
        return self.result is not None and self.result.name in names

    def word(self, *names: str) -> bool:
        """Is the function named so, or does its docstring begin so?"""
        first = re.match(r"(\w+)", self.said)
        begun = re.sub(r"(ing|es|s|ed)$", "", first[1].lower()) if first else ""
        return any(name in self.words or begun in (name, name.rstrip("e")) for name in names)


def properties(about: About) -> tuple[Property, ...]:
    """Each at most once, by name."""
    plain = not _TWISTS.search(about.said)
    found = [*_inverse(about), *_kept(about)]
    if plain:
        found += [*_arranged(about), *_cleaned(about), *_bounded(about), *_counted(about), *_forced(about)]
    found += _typed(about)
    found += [] if found else _returning(about)
    unique = {each.name: each for each in reversed(found)}
    return tuple(each for each in found if unique.get(each.name) is each)


def _property(name: str, expression: str, *imports: str, given: str = "") -> Property:
    return Property(name=name, expression=expression, source=LIBRARY, imports=imports, given=given)


def _sequence(values: Values | None) -> str:
    """The name of the one list of plain values that a call needs, else nothing."""
    if values is None or values.form.name not in ("list", "tuples"):
        return ""
    flat = not values.form.inner or values.form.inner[0].name in ("int", "float", "str", "bool", "any")
    return values.name if flat else ""


def _arranged(about: About) -> Iterator[Property]:
    """Sorting, reversing, shuffling, removing what repeats."""
    xs = _sequence(about.only)
    alike = about.gives("list", "tuples") and xs
    if (
        alike
        and about.word("sort", "sorted")
        and not re.search(r"\b(by|key|uniq\w+|distinct|dup\w+|the first|accord\w+)\b", about.said)
    ):
        yield _property("permutation", f"Counter(result) == Counter({xs})", "from collections import Counter")
        falling = re.search(
            r"\b(descending|decreasing|falling|reverse\w*|largest first|high\w* to low\w*)\b", about.said
        )
        if not (falling and re.search(r"\b(ascending|increasing|rising)\b", about.said)):
            order = ">=" if falling else "<="
            yield _property("ordered", f"all(a {order} b for a, b in zip(result, result[1:]))")
        yield _property("idempotent", f"{about.head.name}(result) == result")
    whole = not re.search(r"\b(words?|vowels?|each|every|group|between|digits?|integer|bits?|order of)\b", about.said)
    own = about.only.name if about.only else ""
    same = about.only is not None and about.result is not None and about.result.name == about.only.form.name
    if about.word("reverse", "reversed") and whole and same and about.gives("list", "tuples", "str"):
        yield _property("its own inverse", f"{about.head.name}(result) == {own}")
        yield _property("length kept", f"len(result) == len({own})")
    if alike and about.word("shuffle", "permute", "rearrange", "reorder"):
        yield _property("permutation", f"Counter(result) == Counter({xs})", "from collections import Counter")
    repeated = re.search(r"\b(remov\w+|drop\w*|delet\w+|without|eliminat\w+)\b.{0,12}\b(duplicate|repeat)", about.said)
    if alike and (
        about.word("dedupe", "dedup", "deduplicate")
        or (repeated and not re.search(r"\b(all|consecutive|adjacent)\b", about.said))
    ):
        yield _property("nothing twice", "len(set(result)) == len(result)")
        yield _property("nothing new", f"set(result) <= set({xs})")
        yield _property("idempotent", f"{about.head.name}(result) == result")


def _cleaned(about: About) -> Iterator[Property]:
    """What brings a text into a form leaves a text of that form as it is."""
    if about.only is None or about.only.form.name != "str" or not about.gives("str"):
        return
    words = ("strip", "trim", "normalize", "normalise", "slugify", "slug", "canonicalize", "canonicalise", "sanitize")
    looks = re.match(r"(find|check|match|search|test|count|is|whether)\w*\b", about.said, re.IGNORECASE)
    if not looks and about.word(*words, "lowercase", "uppercase", "lower", "upper", "squeeze", "collapse", "dedent"):
        yield _property("idempotent", f"{about.head.name}(result) == result")


_LOW = ("low", "lo", "lower", "minimum", "min_value", "minval", "min_val", "lower_bound", "mn", "floor")
_HIGH = ("high", "hi", "upper", "maximum", "max_value", "maxval", "max_val", "upper_bound", "mx", "ceiling")


def _bounded(about: About) -> Iterator[Property]:
    names = [each.name for each in about.values if each.drawn]
    low = next((name for name in names if name in _LOW), "")
    high = next((name for name in names if name in _HIGH), "")
    if len(names) != 3 or not low or not high or not about.word("clamp", "clip", "limit", "bound"):
        return
    value = next(name for name in names if name not in (low, high))
    ordered = f"{low} <= {high}"
    yield _property("within its bounds", f"{low} <= result <= {high}", given=ordered)
    inside = f"{low} <= {value} <= {high}"
    yield _property("unchanged within its bounds", f"result == {value}", given=inside)


def _counted(about: About) -> Iterator[Property]:
    counts = re.match(
        r"(counts?\b|how many\b|(returns?|finds?|gets?|computes?|calculates?|gives?)?\s*(the )?(total )?"
        r"(number|count|length) of\b)",
        about.said,
        re.IGNORECASE,
    )
    if counts and about.gives("int") and not re.search(r"-1|\bsign", about.said):
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


def _forced(about: About) -> Iterator[Property]:
    """The whole first sentence must be this, so that nothing in it can mean something else."""
    xs = _sequence(about.only)
    inner = about.only.form.inner if about.only else ()
    if not xs or (inner and inner[0].name not in ("int", "float", "any")):
        return
    name = re.escape(xs)
    said = re.sub(rf"\b(in|of|from) `*{name}`*$", r"\1 the list", about.said.split(". ")[0].rstrip(" ."))
    said = re.sub(rf"\s*`*\b{name}\b`*$", "", said).lower()
    begin = r"(?:write a (?:python )?function to )?(?:returns?|finds?|computes?|calculates?|gets?|gives?)?\s*(?:the )?"
    for pattern, brute, _words in _FORCED:
        if re.fullmatch(begin + pattern.replace("  ", " "), said):
            yield _property("equals a brute force", f"result == {brute.format(xs)}")
            return


def _kept(about: About) -> Iterator[Property]:
    """Arguments stay as they are, and the same input gives the same, where the docstring says so."""
    changed = re.search(
        r"\b(does not|doesn't|do not|without|never|not) (modif\w+|chang\w+|mutat\w+|alter\w+)|\bnew (list|dict|set)\b"
        r"|\b(is|are) (left )?(unchanged|untouched)\b",
        about.head.docstring,
        re.IGNORECASE,
    )
    mutable = [each for each in about.values if each.drawn and each.mutable and each.kind == "plain"]
    if changed and mutable and not re.search(r"\bin[- ]place\b", about.head.docstring):
        for each in mutable[:1]:
            call = _call_on(about, each.name)
            if call:
                expression = f"(lambda given: ({call}, given)[1])(deepcopy({each.name})) == {each.name}"
                yield _property("arguments unchanged", expression, "from copy import deepcopy")
    if re.search(r"\b(deterministic|same input|reproducib\w+)\b", about.head.docstring, re.IGNORECASE):
        given = ", ".join(each.name for each in about.values if each.drawn and each.kind == "plain")
        if len(given.split(", ")) == sum(each.drawn for each in about.values):
            yield _property("deterministic", f"{about.head.name}({given}) == result")


def _call_on(about: About, name: str) -> str:
    drawn = [each for each in about.values if each.drawn]
    if any(each.kind != "plain" for each in drawn):
        return ""
    return f"{about.head.name}({', '.join('given' if each.name == name else each.name for each in drawn)})"


def _typed(about: About) -> Iterator[Property]:
    """Where the docstring shows calls, the part `hints` looks at what those give."""
    check = _types.check(about.head.returns, "result") if about.head.returns and not about.calls else ""
    if check:
        yield _property("type of the result", check)


def _returning(about: About) -> list[Property]:
    """No exception for any input, where every type is known and nothing is said of input that is none."""
    typed = all(each.annotation for each in about.head.parameters)
    if not typed or not about.values or _LIMITS.search(about.head.docstring):
        return []
    return [_property("no exception", "")]


# -- inverse functions of the same module ---------------------------------------------------------------------------


def _inverse(about: About) -> Iterator[Property]:
    """`backward(forward(x)) == x`, where one of both is wanted and the other is in the module, already written."""
    own = about.head.name
    for forward, backward in _pairs(own):
        sibling = backward if own == forward else forward
        node = _written(about.text, sibling)
        if node is None or about.only is None:
            continue
        value = about.only if own == forward else _first(node, about)
        if value is None or value.form.name in ("float", "any"):
            return  # what is nearly equal is not equal
        if own == forward:
            yield Property(
                name=f"{backward} undoes {forward}",
                expression=f"{backward}(result) == {value.name}",
                source=LIBRARY,
                own=(sibling,),
            )
        else:
            yield Property(
                name=f"{backward} undoes {forward}",
                expression=f"result == {value.name}",
                source=LIBRARY,
                own=(sibling,),
                over=(value,),
                call=f"{backward}({forward}({value.name}))",
            )
        return


def _pairs(name: str) -> Iterator[tuple[str, str]]:
    """Names (forward, backward) of which one is this name."""
    for forward, backward in _INVERSES:
        for here in (forward, backward):
            if match := re.fullmatch(rf"((?:.*_)?){here}((?:_.*)?)", name):
                before, after = match.groups()
                yield f"{before}{forward}{after}", f"{before}{backward}{after}"
    if match := re.fullmatch(r"([a-z0-9]+)_to_([a-z0-9]+)", name):
        # A number has one text, but a text that is read as a number may be one of several.
        number = next((each for each in match.groups() if each in _NUMBERS), "")
        if number:
            other = match[1] if match[2] == number else match[2]
            yield f"{number}_to_{other}", f"{other}_to_{number}"


def _written(text: str, name: str) -> ast.FunctionDef | None:
    parsed = tree(text)
    body = parsed.body if isinstance(parsed, ast.Module) else []
    node = next((each for each in body if isinstance(each, FUNCTIONS) and each.name == name), None)
    return node if isinstance(node, ast.FunctionDef) and not is_stub(node) else None


def _first(node: ast.FunctionDef, about: About) -> Values | None:
    """Values for the one argument that the sibling needs."""
    given = node.args
    needed = [*given.posonlyargs, *given.args][: len(given.posonlyargs) + len(given.args) - len(given.defaults)]
    if len(needed) != 1 or given.vararg or any(each is None for each in given.kw_defaults):
        return None
    annotation = ast.unparse(needed[0].annotation) if needed[0].annotation else ""
    head = Head(
        name=node.name,
        qualname=node.name,
        parameters=(Parameter(name=needed[0].arg, annotation=annotation),),
        returns="",
        docstring=ast.get_docstring(node) or "",
        signature="",
        line=1,
    )
    found, _without = _values.values(head, about.text, about.dotted, {})
    return found[0] if found else None
