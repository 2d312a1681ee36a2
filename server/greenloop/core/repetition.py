"""Answers of a model that fell into a loop: one branch, statement or function written again and again.

After RPG ("Rethinking Repetition Problems of LLMs in Code Generation"): what repeats is a structure of the grammar with
other values in it, seldom the same text. RPG lowers such structures' probability while decoding; from outside, what
repeats can only be found and asked for once more, with a penalty on frequent tokens.

The bounds are beyond all that the standard library and large packages hold: a chain of 16 equal branches, 10 equal
statements in a row, 15 functions with one body. Data (lists, tables, texts) may repeat as it likes.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence

from greenloop.core.diff import flat
from greenloop.core.source import FUNCTIONS, Function, blocks, docstring, piece
from greenloop.core.telling import told

REPETITION = "Repetition"

BRANCHES = 24  # branches in a row of one shape: the same names, other constants
STATEMENTS = 16  # the same statements in a row, or groups of up to `GROUP` of them
GROUP = 6
COPIES = 20  # functions of one block with the same body
AGAIN = 6  # functions of one block with the same name as well
LINES = 30  # groups of lines in a row, of a text that cannot be parsed
TAIL = 4_000  # characters at the end of such a text that are looked at
_KEYWORD = re.compile(r"\s*(?:if|elif|else|case|return|def|for|while|assert|#|@)\b|\s*#")
_VALUE = re.compile(r"""\d+|"[^"\\]*"|'[^'\\]*'""")


def repeated(text: str) -> str:
    """One sentence about what code repeats beyond all measure, or empty. Takes time in proportion to the text."""
    found = piece(text)
    if isinstance(found, SyntaxError):
        return looping(text)
    inner: set[int] = set()  # of a chain of `elif` only its first `if` is looked at
    for block in _blocks_of(found.body):
        for sentence in (_statements(block), _copies(block), *(_chain(node, inner) for node in block)):
            if sentence:
                return sentence
    return ""


def looping(text: str) -> str:
    """As `repeated`, for a text that no parser takes: does it end in a loop, at least until it was cut off?"""
    rows = [row for row in flat(text[-100 * TAIL :]).rstrip().split("\n")[:-1] if row.strip()]
    shapes = [_VALUE.sub("0", row) if _KEYWORD.match(row) else row for row in rows]
    for size in range(1, GROUP + 1):
        times = _times(shapes[::-1], size)
        if times >= LINES:
            return f"The answer ends in a loop: the same {_counted(size, 'line')} {times} times."
    times = _period(text.rstrip()[-TAIL:])
    return f"The answer ends in a loop: the same characters {times} times." if times >= 2 * LINES else ""


# -- code -------------------------------------------------------------------------------------------------------


def _blocks_of(body: Sequence[ast.stmt]) -> Iterator[Sequence[ast.stmt]]:
    waiting: list[Sequence[ast.stmt]] = [body]
    while waiting:
        block = waiting.pop()
        yield block
        waiting += [inner for node in block for inner in blocks(node) if inner]


def _statements(block: Sequence[ast.stmt]) -> str:
    """The same statements again and again, or `if`s that differ by their values only."""
    if len(block) < STATEMENTS:
        return ""
    keys: list[Hashable] = [" ".join(told([node])) for node in block]
    for size in range(1, GROUP + 1):
        if (times := _longest(keys, size)) >= STATEMENTS:
            return f"The answer says the same {_counted(size, 'statement')} {times} times in a row."
    shapes = [_shape([node]) if isinstance(node, ast.If) and not node.orelse else None for node in block]
    times = _longest(shapes, 1)
    return _branches("if", times) if times >= BRANCHES else ""


def _chain(node: ast.stmt, inner: set[int]) -> str:
    """Branches of one `if` or `match` that differ by their values only."""
    if isinstance(node, ast.Match):
        times = _longest([_shape([case]) for case in node.cases], 1) if len(node.cases) >= BRANCHES else 0
        return _branches("case", times) if times >= BRANCHES else ""
    if not isinstance(node, ast.If) or id(node) in inner:
        return ""
    links = [node]
    while len(links[-1].orelse) == 1 and isinstance(link := links[-1].orelse[0], ast.If):
        links.append(link)
        inner.add(id(link))
    times = _longest([_shape([link.test, *link.body]) for link in links], 1) if len(links) >= BRANCHES else 0
    return _branches("elif", times) if times >= BRANCHES else ""


def _copies(block: Sequence[ast.stmt]) -> str:
    """Functions with one body; bodies of one statement are nobody's copy."""
    functions = [node for node in block if isinstance(node, FUNCTIONS)]
    if len(functions) < AGAIN:
        return ""
    bodies = [(node.name, body) for node in functions if (body := _body(node))]
    again = max(Counter(bodies).values(), default=0)
    times = max(Counter(body for _name, body in bodies).values(), default=0)
    return f"The answer writes the same function {times} times." if again >= AGAIN or times >= COPIES else ""


def _body(node: Function) -> str:
    rest = node.body[1:] if docstring(node) else node.body
    return " ".join(told([node.args, *rest])) if len(rest) > 1 else ""


def _shape(nodes: Sequence[ast.AST]) -> str:
    return " ".join(told(nodes, constants=False))


def _branches(word: str, times: int) -> str:
    return f"The answer repeats one `{word}` {times} times with other values; say it once, by a rule, loop or table."


# -- runs -------------------------------------------------------------------------------------------------------


def _longest(keys: Sequence[Hashable | None], size: int) -> int:
    """How often a group of `size` keys stands in a row, at most; None is like nothing."""
    longest = length = 0
    for key, before in zip(keys[size:], keys, strict=False):
        length = length + 1 if key is not None and key == before else 0
        longest = max(longest, length)
    return longest // size + 1 if longest >= size else 1


def _times(keys: Sequence[Hashable], size: int) -> int:
    """How often the first `size` keys are said in a row."""
    length = 0
    while length + size < len(keys) and keys[length + size] == keys[length]:
        length += 1
    return length // size + 1 if length >= size else 1


def _period(text: str) -> int:
    """How often the text's end repeats itself, by its shortest period (Knuth, Morris and Pratt's failure function)."""
    text = text[::-1]
    border = [0] * len(text)
    most = 1
    for index in range(1, len(text)):
        known = border[index - 1]
        while known and text[index] != text[known]:
            known = border[known - 1]
        border[index] = known + (text[index] == text[known])
        length, period = index + 1, index + 1 - border[index]
        if length // period > most and any(map(str.isalnum, text[:period])):  # rules of dashes are drawn on purpose
            most = length // period
    return most


def _counted(number: int, word: str) -> str:
    return word if number == 1 else f"{number} {word}s"
