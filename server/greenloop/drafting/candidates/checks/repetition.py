"""Detects answers of a model that fell into a loop: a branch, statement or function repeats.

After RPG ("Rethinking Repetition Problems of LLMs in Code Generation"): a grammatical structure repeats with other
values, seldom the same text. RPG lowers the probability of these structures while decoding; from outside, a repetition
can only be detected and the question asked again, with a penalty on frequent tokens.

The limits exceed the maxima found in the standard library and large packages: a chain of 16 equal branches, 10 equal
statements in a row, 15 functions with one body. Data (lists, tables, texts) may repeat without limit.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence

from greenloop.core.python.ast_source import (
    FUNCTIONS,
    Function,
    docstring_statement,
    dump_words,
    parse_fragment,
    statement_blocks,
)
from greenloop.core.text.diff import with_plain_ends

REPETITION = "Repetition"

BRANCHES = 24  # branches in a row with one shape: the same names, other constants
STATEMENTS = 16  # equal statements in a row, or equal groups of up to `MAX_GROUP` statements
GROUP = 6
COPIES = 20  # functions of one block with the same body
AGAIN = 6  # functions of one block with the same body and the same name
LINES = 30  # equal groups of lines in a row, in a text that cannot be parsed
TAIL = 4_000  # characters at the end of a text like this that are searched
_KEYWORD = re.compile(r"\s*(?:if|elif|else|case|return|def|for|while|assert|#|@)\b|\s*#")
_VALUE = re.compile(r"""\d+|"[^"\\]*"|'[^'\\]*'""")


def describe_repetition(text: str) -> str:
    """One sentence about an excessive repetition in code, or empty. Takes time proportional to the text."""
    parsed = parse_fragment(text)
    if isinstance(parsed, SyntaxError):
        return describe_loop(text)
    inner: set[int] = set()  # ids of `elif` branches, which are checked with their first `if`
    for block in _blocks_of(parsed.body):
        for sentence in (_statements(block), _copies(block), *(_chain(node, inner) for node in block)):
            if sentence:
                return sentence
    return ""


def describe_loop(text: str) -> str:
    """One sentence if a text that does not parse ends in a loop (before it was cut off), or empty."""
    rows = [row for row in with_plain_ends(text[-100 * TAIL :]).rstrip().split("\n")[:-1] if row.strip()]
    shapes = [_VALUE.sub("0", row) if _KEYWORD.match(row) else row for row in rows]
    for size in range(1, GROUP + 1):
        times = _repeat_count(shapes[::-1], size)
        if times >= LINES:
            return f"The answer ends in a loop: the same {_count_phrase(size, 'line')} {times} times."
    times = _trailing_repeats(text.rstrip()[-TAIL:])
    return f"The answer ends in a loop: the same characters {times} times." if times >= 2 * LINES else ""


# -- code -------------------------------------------------------------------------------------------------------


def _blocks_of(body: Sequence[ast.stmt]) -> Iterator[Sequence[ast.stmt]]:
    waiting: list[Sequence[ast.stmt]] = [body]
    while waiting:
        block = waiting.pop()
        yield block
        waiting += [inner for node in block for inner in statement_blocks(node) if inner]


def _statements(block: Sequence[ast.stmt]) -> str:
    """A sentence about equal statements in a row, or `if`s that differ only in their values."""
    if len(block) < STATEMENTS:
        return ""
    keys: list[Hashable] = [" ".join(dump_words([node])) for node in block]
    for size in range(1, GROUP + 1):
        if (times := _longest_run(keys, size)) >= STATEMENTS:
            return f"The answer says the same {_count_phrase(size, 'statement')} {times} times in a row."
    shapes = [_shape([node]) if isinstance(node, ast.If) and not node.orelse else None for node in block]
    times = _longest_run(shapes, 1)
    return _branches("if", times) if times >= BRANCHES else ""


def _chain(node: ast.stmt, inner: set[int]) -> str:
    """A sentence about branches of one `if` or `match` that differ only in their values."""
    if isinstance(node, ast.Match):
        times = _longest_run([_shape([case]) for case in node.cases], 1) if len(node.cases) >= BRANCHES else 0
        return _branches("case", times) if times >= BRANCHES else ""
    if not isinstance(node, ast.If) or id(node) in inner:
        return ""
    links = [node]
    while len(links[-1].orelse) == 1 and isinstance(link := links[-1].orelse[0], ast.If):
        links.append(link)
        inner.add(id(link))
    times = _longest_run([_shape([link.test, *link.body]) for link in links], 1) if len(links) >= BRANCHES else 0
    return _branches("elif", times) if times >= BRANCHES else ""


def _copies(block: Sequence[ast.stmt]) -> str:
    """A sentence about functions with the same body; bodies of one statement do not count."""
    functions = [node for node in block if isinstance(node, FUNCTIONS)]
    if len(functions) < AGAIN:
        return ""
    bodies = [(node.name, body) for node in functions if (body := _body(node))]
    same_name = max(Counter(bodies).values(), default=0)
    same_body = max(Counter(body for _name, body in bodies).values(), default=0)
    return (
        f"The answer writes the same function {same_body} times." if same_name >= AGAIN or same_body >= COPIES else ""
    )


def _body(node: Function) -> str:
    statements = node.body[1:] if docstring_statement(node) else node.body
    return " ".join(dump_words([node.args, *statements])) if len(statements) > 1 else ""


def _shape(nodes: Sequence[ast.AST]) -> str:
    return " ".join(dump_words(nodes, constants=False))


def _branches(word: str, times: int) -> str:
    return f"The answer repeats one `{word}` {times} times with other values; say it once, by a rule, loop or table."


# -- runs -------------------------------------------------------------------------------------------------------


def _longest_run(keys: Sequence[Hashable | None], size: int) -> int:
    """The most repeats in a row of a group of `size` keys; None is never equal to anything."""
    longest = length = 0
    for key, before in zip(keys[size:], keys, strict=False):
        length = length + 1 if key is not None and key == before else 0
        longest = max(longest, length)
    return longest // size + 1 if longest >= size else 1


def _repeat_count(keys: Sequence[Hashable], size: int) -> int:
    """The number of repeats in a row of the first `size` keys."""
    length = 0
    while length + size < len(keys) and keys[length + size] == keys[length]:
        length += 1
    return length // size + 1 if length >= size else 1


def _trailing_repeats(text: str) -> int:
    """The number of repeats at the end of the text, by the failure function of Knuth, Morris and Pratt."""
    text = text[::-1]
    border = [0] * len(text)
    most = 1
    for index in range(1, len(text)):
        matched = border[index - 1]
        while matched and text[index] != text[matched]:
            matched = border[matched - 1]
        border[index] = matched + (text[index] == text[matched])
        length, period = index + 1, index + 1 - border[index]
        if length // period > most and any(map(str.isalnum, text[:period])):  # lines of dashes are intentional
            most = length // period
    return most


def _count_phrase(number: int, word: str) -> str:
    return word if number == 1 else f"{number} {word}s"
