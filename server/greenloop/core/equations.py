"""Equations in plain text: `f(2) returns 4`, `f([1, 2]) -> 3`, `f(2) == 4`, `f(-1) raises ValueError`.

Precision comes first, for each becomes a test that must pass: arguments and values have to be literals, the words
before and behind an equation have to be known ones, and whatever sounds like a condition, a doubt or a wrong example
("if", "about", "used to", "Wrong:") leaves it alone.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from greenloop.core import values
from greenloop.core.calls import CLOSED, LONGEST, OPEN, Subject, close, is_literal, named, primary, quoted

NEAR = 40  # rows above one in which its heading is looked for


@dataclass(frozen=True, kw_only=True)
class Stated:
    """Something that a text says must hold. `body` are the statements of its test, `shown` the line a user reads.

    `call` and `expected` (or `raises`) are what it equates, where it is an equation; `row` counts from 0.
    """

    row: int
    body: str
    shown: str
    call: str = ""
    expected: str = ""
    raises: str = ""
    imports: tuple[str, ...] = ()


_WRONG = (
    r"wrong\w*|incorrect\w*|invalid\w*|bad|bugs?|buggy|broken|fail(?:s|ed|ing)?|no longer|used to|previously|untrue"
)
_STALE = (
    r"formerly|instead|deprecated|versionchanged|versionadded|counter-?examples?|don'?t|do not|does not|never|cannot"
)
_VAGUE = r"approximately|roughly|approx|about|around|nearly|almost|sometimes|usually|possibl[ey]|perhaps|maybe|seems?"
_UNSURE = r"likely|unlikely|may|might|could|pseudo-?code|not yet"
_DOUBTED = f"{_WRONG}|{_STALE}|{_VAGUE}|{_UNSURE}"
_BOUND = r"if|when|whenever|unless|until|before|after|once|suppose|supposing|assum\w+|given|with|without|were|where|not"
_BOUND += r"|in case|depending|otherwise|while|whereas|for (?!example|instance)\w+"
DOUBTED = re.compile(rf"\b(?:{_DOUBTED})\b", re.IGNORECASE)
CONDITION = re.compile(rf"\b(?:{_DOUBTED}|{_BOUND})\b", re.IGNORECASE)
_LABEL = r"(?:[\w]+ )?(?:examples?|tests?|cases?|usage|todo|fixme|note|returns?|raises?|check|expected)(?: ?\d+)?"
_LEAD = re.compile(
    rf"[\s\-*\u2022>#`\"'(]*(?:\d+[.)]\s+)?"
    rf"(?:(?:for example|for instance|e\.g\.|i\.e\.|that is|so|thus|hence|then|therefore|also|and|but|so that|note that"
    rf"|calling|a call of|the call|such that|like|thereby|here|such as|{_LABEL}\s*:+)[,:]?\s*)*[`\"'(]*",
    re.IGNORECASE,
)
_SYMBOL = re.compile(r"[`\s]*?(?:\#\s*)?(?:==+>|--?>|=>|\u2192|\u21d2|\u27f6|\u21a6|===?|=(?![=~]))[`\t ]*")
_MODAL = r"(?:(?:should|must|will|shall|would|has to|is to)\s+)?"
_VERB = r"(?:returns?|gives?|equals?|evaluates?\s+to|produces?|results?\s+in|is\s+equal\s+to|be\s+equal\s+to|be|is)"
_FILL = r"(?:(?:exactly|simply|just|the\s+value|the\s+(?:list|string|tuple|number|integer|dict|set))\s+)?"
_WORDS = re.compile(rf"[`]*(?:\s+|\s*\#\s*){_MODAL}{_VERB}\s+{_FILL}(?::\w+(?::\w+)?:)?[`]*(?!\s)", re.IGNORECASE)
_EMPTY = re.compile(r"(?:an\s+)?empty\s+(?P<kind>list|string|tuple|dict(?:ionary)?|set)\b", re.IGNORECASE)
_EMPTIES = {"list": "[]", "string": "''", "tuple": "()", "dict": "{}", "dictionary": "{}", "set": "set()"}
_RAISES = re.compile(
    rf"[`]*(?:\s+|\s*\#\s*|\s*(?:->|=>|\u2192)\s*){_MODAL}(?:raises?|throws?)\s+(?:an?\s+|the\s+)?(?:exception\s+)?"
    r"(?::\w+(?::\w+)?:)?[`~]*(?P<name>[A-Za-z_][\w.]*\w)"
)
_NEXT_LITERAL = re.compile(r"\s*[`]*(?:[-+]?[\d.]|['\"\[{(]|True\b|False\b|None\b)")
_GIVEN = re.compile(
    r"(?:^|\b(?:e\.g\.|for example|for instance|such as|like|as in|example)[,:]?)[\s`(]*$", re.IGNORECASE
)
_STOP = re.compile(r"\s+(?:and|because|since|but|while|whereas|--|\u2013|\u2014)(?=\s)|\s+\(")


def equations(rows: Sequence[str], subject: Subject) -> Iterator[Stated]:
    """Each equation of a text, in order of their places."""
    text = "\n".join(rows)
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    done = loose = 0
    for match in named(text, subject):
        if match.start() < done:
            continue
        end = primary(text, match.end())
        node = values.parsed(text[match.start() : end])
        if not isinstance(node, ast.Call) or not subject.called_in(node):
            continue
        row = bisect_right(starts, match.start()) - 1
        sure = is_literal(node, subject) and not is_governed(rows, row)
        found = _read(text, match.start(), end, subject, since=done, loose=loose) if sure else None
        if found is None:
            loose = end
            continue
        done, expected, raises = found
        yield stated(row, node, expected, raises)


def raising(text: str, subject: Subject) -> ast.Call | None:
    """The call that an entry of a `Raises` section gives as its example (`ValueError: e.g. f(-1)`)."""
    for match in named(text, subject):
        end = primary(text, match.end())
        node = values.parsed(text[match.start() : end])
        sure = isinstance(node, ast.Call) and subject.called_in(node) and is_literal(node, subject)
        if sure and _GIVEN.search(text[: match.start()]) and re.fullmatch(r"[`)]*(?:[.,;)].*)?", text[end:]):
            return node if isinstance(node, ast.Call) else None
    return None


# -- what stands around a call ------------------------------------------------------------------------------------


def _read(text: str, start: int, end: int, subject: Subject, *, since: int, loose: int) -> tuple[int, str, str] | None:
    """Where the equation ends, the value and the exception that a text gives for the call at `start`..`end`."""
    begin = text.rfind("\n", 0, start) + 1
    symbol = _SYMBOL.match(text, end) if "\n" not in text[end : end + 3].strip(" ") else None
    alone = bool(_LEAD.fullmatch(text[max(begin, since) : start])) and loose <= begin
    if not (alone and (symbol or _begins(text, begin, since))) and not _is_led(text, start, since, loose):
        return None
    before = text[max(begin if alone else _sentence(text, start), since) : start]
    if CONDITION.search(before):
        return None
    if raised := _RAISES.match(text, end):
        return _raised(text, raised.end(), raised["name"], subject)
    relation = symbol or _WORDS.match(text, end)
    if relation is None:
        return None
    at = relation.end()
    if empty := _EMPTY.match(text, at):
        return (empty.end(), _EMPTIES[empty["kind"].lower()], "") if _ends(text, empty.end(), subject) else None
    stop = _value_end(text, at)
    written = text[at:stop].strip()
    if symbol and written in values.EXCEPTIONS | subject.exceptions:
        return _raised(text, stop, written, subject)
    node = values.parsed(written) if written else None
    if node is None or not values.is_value(node) or _is_annotation(text[start:end], symbol, node):
        return None
    return (stop, written, "") if _ends(text, stop, subject, alone=bool(alone and symbol)) else None


def _raised(text: str, end: int, name: str, subject: Subject) -> tuple[int, str, str] | None:
    known = name in values.EXCEPTIONS or name in subject.exceptions
    return (end, "", name) if known and (text[end : end + 1] == ":" or _ends(text, end, subject)) else None


def _is_annotation(call: str, symbol: re.Match[str] | None, value: ast.expr) -> bool:
    """`f() -> None` and `f(x=1) -> None` are signatures."""
    node = values.parsed(call)
    plain = isinstance(node, ast.Call) and not node.args
    return bool(symbol and "=" not in symbol[0] and plain and isinstance(value, ast.Constant) and value.value is None)


def _begins(text: str, begin: int, since: int) -> bool:
    """Does a sentence begin with this row?"""
    above = text[:begin].rstrip(" \t")
    last = above.rstrip()
    return since == len(last) or not last or above.endswith("\n\n") or last[-1] in ".:;!`" or above[:-1] != last


def _sentence(text: str, start: int) -> int:
    """Where the sentence that holds a place begins."""
    found = list(
        re.finditer(
            r"[.!?:;](?=\s)(?<!e\.g\.)(?<!i\.e\.)|\n\s*\n|\n\s*[-*\u2022]\s", text[max(0, start - LONGEST) : start]
        )
    )
    return max(0, start - LONGEST) + found[-1].end() if found else max(0, start - LONGEST)


def _is_led(text: str, start: int, since: int, loose: int) -> bool:
    """Does a call inside a sentence stand where a new statement begins?"""
    begin = max(_sentence(text, start), since)
    if loose > begin:  # another call of which nothing was said: "the sum of f(1) and f(2) is 5"
        return False
    before = text[begin:start]
    clause = max((match.end() for match in re.finditer(r",\s|\(", before)), default=0)
    joined = re.search(r"\b(?:so|so that|then|thus|hence|therefore|that|e\.g\.|i\.e\.)[,:]?\s+[`(]*$", before)
    return bool(
        _LEAD.fullmatch(before[clause:])
        or joined
        or (since == begin and re.fullmatch(r"[\s,;.`)]*(?:and|but|while)?[\s`]*", before))
    )


def is_governed(rows: Sequence[str], at: int) -> bool:
    """Does a heading above a row, or one that it is indented under, take it back or put it under a condition?"""
    margin = len(rows[at]) - len(rows[at].lstrip())
    gap = other = False
    for row in reversed(rows[max(0, at - NEAR) : at]):
        if not row.strip():
            gap = True
            continue
        left = len(row) - len(row.lstrip())
        heading = row.rstrip().endswith(":") or row.lstrip().startswith("..")
        if heading and (left < margin or (left == margin and not other)) and CONDITION.search(row):
            return True
        other = other or (gap and left == margin and not heading)
        margin = min(margin, left)
    return False


def _value_end(text: str, start: int) -> int:
    """Where a value ends that begins at `start`: at the end of its row, or at what cannot belong to it."""
    at = start
    while at < min(len(text), start + LONGEST):
        sign = text[at]
        if sign in "\"'":
            at = quoted(text, at)
        elif sign in OPEN:
            if at > start and text[at - 1] == " " and not text[start:at].strip().endswith(("+", "-", "*", ",")):
                return at
            closed = close(text, at)
            if closed is None:
                return at
            at = closed
        elif (
            sign in "\n`,;#" + CLOSED
            or (sign in ".!?" and not re.match(r"[\w.]", text[at + 1 : at + 2]))
            or (sign.isspace() and _STOP.match(text, at))
        ):
            return at
        else:
            at += 1
    return at


def _ends(text: str, end: int, subject: Subject, *, alone: bool = False) -> bool:
    """Is everything said of the value where it ends? `alone`: the row is an equation in signs from its beginning."""
    closing = re.compile(r"[`\"'*]*\)?[`\"'*]*").match(text, end)
    at = closing.end() if closing else end
    bracket = text[end:at].count(")") > 0
    rest = text[at:].split("\n", 1)[0] if "\n" in text[at:] else text[at:]
    remark = rest.strip()
    if DOUBTED.search(re.split(r"[.!?;](?:\s|$)", rest)[0]):
        return False
    if not remark:
        return alone or bracket or _paragraph_ends(text, at + len(rest))
    if remark[0] in ".;!#":
        return not remark.startswith("..")
    if remark[0] == "(" or remark.startswith(("--", "\u2013", "\u2014")):
        return not CONDITION.search(remark)
    if following := re.match(r",?\s*(?:(?:and|but|while|whereas)\b)?\s*[`(]*(?=\S)", remark):
        behind = remark[following.end() :]
        if re.match(rf"{re.escape(subject.name)}[.(]", behind):
            return bool(following[0])
    if re.match(r"(?:,\s*)?(?:because|since)\b|,\s*(?:not|so|i\.e\.|as in|that is|which)\b", remark):
        return not re.search(r"\b(?:if|when|unless)\b", remark)
    if bracket or re.match(r"and\s+[a-z]", remark):
        return not _NEXT_LITERAL.match(remark.removeprefix("and")) and not CONDITION.search(remark)
    return False


def _paragraph_ends(text: str, at: int) -> bool:
    """Does the sentence end with the row, and not go on in the next one?"""
    below = text[at + 1 :].split("\n", 1)[0].strip() if at < len(text) else ""
    return not below or bool(re.match(r"[A-Z\-*\u2022`:>#\d]", below)) or "(" in below.split(" ")[0]


def stated(row: int, node: ast.Call, expected: str, raises: str) -> Stated:
    call = ast.unparse(node)
    if raises:
        return Stated(
            row=row,
            body=f"with pytest.raises({raises}):\n    {call}",
            shown=f"with pytest.raises({raises}): {call}",
            call=call,
            raises=raises,
            imports=("import pytest", *values.imports(node)),
        )
    value = values.parsed(expected)
    compared = values.expectation(expected) or ast.unparse(value) if value else expected
    needed = values.imports(ast.Tuple(elts=[node, value], ctx=ast.Load())) if value else ()
    shown = f"assert {call} == {compared}"
    return Stated(
        row=row,
        body=shown,
        shown=shown,
        call=call,
        expected=ast.unparse(value) if value else expected,
        imports=(*(["import pytest"] if "pytest." in compared else []), *needed),
    )
