"""Test first: special (`__len__`) and abstract methods that a class lacks, by what Python's messages say."""

from __future__ import annotations

import re
from collections.abc import Iterator

from greenloop_sandbox import Failure

_OPERATORS = {
    "+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "** or pow()": "pow",
    "@": "matmul", "&": "and", "|": "or", "^": "xor", "<<": "lshift", ">>": "rshift", "divmod()": "divmod",
}  # fmt: skip
_COMPARISONS = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
_UNARY = {"-": "neg", "+": "pos", "~": "invert", "abs()": "abs"}
_ABSTRACT = re.compile(
    r"Can't instantiate abstract class (\w+) (?:with|without an implementation for) abstract methods? (.+)"
)
_BINARY = re.compile(r"unsupported operand type\(s\) for (.+?)=?: '(\w+)' and '(\w+)'")
_ORDER = re.compile(r"'([<>]=?)' not supported between instances of '(\w+)' and '\w+'")
_SIGN = re.compile(r"bad operand type for (?:unary )?(\S+): '(\w+)'")
# A message, in which X is the class, and the methods that would have answered.
_MESSAGES: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"(?:^|: )X\(\) takes no arguments", ("init",)),
    (r"object of type 'X' has no len\(\)", ("len",)),
    (r"argument of type 'X' is not (?:a container or )?iterable", ("contains",)),
    (r"'X' object is not iterable|cannot unpack non-iterable X object", ("iter",)),
    (r"Value after \* must be an iterable, not X", ("iter",)),
    (r"argument after \*\* must be a mapping, not X", ("keys", "getitem")),
    (r"unsupported format string passed to X\.__format__", ("format",)),
    (r"^assert not <[\w.<>]*?X object at .*\n.* where .* = (?:\w+\.)*\1\(", ("bool",)),  # a new one
    (r"= len\(\{<[\w.<>]*?X object at 0x[0-9a-f]+>, <", ("eq", "hash")),
    (r"'X' object is not an iterator", ("next",)),
    (r"'X' object is not reversible", ("reversed",)),
    (r"'X' object is not subscriptable", ("getitem",)),
    (r"'X' object does not support item assignment", ("setitem",)),
    (r"'X' object (?:does not|doesn't) support item deletion", ("delitem",)),
    (r"'X' object is not callable", ("call",)),
    (r"'X' object does not support the context manager protocol", ("enter", "exit")),
    (r"'X' object does not support the asynchronous context manager protocol", ("aenter", "aexit")),
    (r"'async for' requires an object with __aiter__ method, got X", ("aiter", "anext")),
    (r"object X can't be used in 'await' expression", ("await",)),
    (r"unhashable type: 'X'", ("hash",)),
    (r"int\(\) argument must be .*, not 'X'", ("int",)),
    (r"float\(\) argument must be .*, not 'X'", ("float",)),
    (r"'X' object cannot be interpreted as an integer", ("index",)),
    (r"type X doesn't define __round__ method", ("round",)),
)
_PATTERNS = [(re.compile(message.replace("X", r"(\w+)")), names) for message, names in _MESSAGES]
_PLAIN_OBJECT = re.compile(r"<[\w.<>]*?(\w+) object at 0x")
_QUOTES = ("'", '"')


def missing_special_methods(failure: Failure, uses: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yields the classes that may lack methods, each with the methods' names; `uses` is the text of the test."""
    message = failure.message
    if match := _ABSTRACT.search(message):
        yield match[1], tuple(re.findall(r"\w+", match[2]))
    if match := _BINARY.search(message):
        sign, left, right = match.groups()
        if operator := _OPERATORS.get(sign):
            yield left, (f"__{operator}__",)
            yield right, (f"__r{operator}__",)
    if match := _ORDER.search(message):
        yield match[2], (f"__{_COMPARISONS[match[1]]}__",)
    if (match := _SIGN.search(message)) and match[1] in _UNARY:
        yield match[2], (f"__{_UNARY[match[1]]}__",)
    for pattern, names in _PATTERNS:
        if match := pattern.search(message):
            owner = next(filter(None, match.groups()))
            yield owner, tuple(name if name == "keys" else f"__{name}__" for name in names)
    expected, observed = failure.expected or "", failure.observed or ""
    wanted, shown = _PLAIN_OBJECT.search(expected), _PLAIN_OBJECT.search(observed)
    if shown and wanted and shown[1] == wanted[1]:
        # Only against a new object: another one of those that exist may be the wrong one.
        if re.search(rf"\b{shown[1]}\([^()\n]*\)\]?\s*==|(?:==|assertEqual\(.*,)\s*\[?{shown[1]}\(", uses):
            yield shown[1], ("__eq__",)
    elif shown and expected.startswith(_QUOTES) and observed.startswith(_QUOTES):
        yield shown[1], ("__repr__" if "repr(" in uses else "__str__",)
