"""Reads equations in prose: `f(2) returns 4`, `f([1]) -> 3`, `f(2) == 4`, `f(-1) raises ValueError`.

Precision comes first, because each becomes a test that must pass: arguments and values have to be literals, and the
words before and after an equation have to be known. An equation with words of condition, doubt or error ("if",
"about", "used to", "Wrong:") is ignored.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from greenloop.plugins.function_calls import literals
from greenloop.plugins.function_calls.brackets import CLOSED, LONGEST, OPEN, closing_position, string_end
from greenloop.plugins.stated_examples.call_lines import (
    DocumentedFunction,
    Requirement,
    find_names,
    is_literal,
    make_requirement,
    primary_end,
)

NEAR = 40  # rows above a row that are searched for its heading


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
_STOP = re.compile(r"\s+(?:and|because|since|but|while|whereas|--|\u2013|\u2014)(?=\s)|\s+\(")


def find_equations(rows: Sequence[str], subject: DocumentedFunction) -> Iterator[Requirement]:
    """Yields each equation of a text, in order."""
    text = "\n".join(rows)
    row_starts = [0, *(match.end() for match in re.finditer("\n", text))]
    read_end = unread_end = 0
    for start, end, node in _find_calls(text, subject):
        if start < read_end:
            continue
        row = bisect_right(row_starts, start) - 1
        is_precise = is_literal(node, subject) and not is_governed(rows, row)
        reading = _read(text, start, end, subject, since=read_end, loose=unread_end) if is_precise else None
        if reading is None:
            unread_end = end
            continue
        read_end, expected, raises = reading
        yield make_requirement(row, node, expected, raises)


def _find_calls(text: str, subject: DocumentedFunction) -> Iterator[tuple[int, int, ast.Call]]:
    """Yields start, end and node of each call of the function."""
    for match in find_names(text, subject):
        end = primary_end(text, match.end())
        node = literals.parse_expression(text[match.start() : end])
        if isinstance(node, ast.Call) and subject.is_called_in(node):
            yield match.start(), end, node


# -- the words around a call --------------------------------------------------------------------------------------


def _read(
    text: str, start: int, end: int, subject: DocumentedFunction, *, since: int, loose: int
) -> tuple[int, str, str] | None:
    """End of the equation, value and exception that a text states for the call at `start`..`end`."""
    row_start = text.rfind("\n", 0, start) + 1
    symbol = _SYMBOL.match(text, end) if "\n" not in text[end : end + 3].strip(" ") else None
    is_alone = bool(_LEAD.fullmatch(text[max(row_start, since) : start])) and loose <= row_start
    if not (is_alone and (symbol or _begins_sentence(text, row_start, since))) and not _begins_statement(
        text, start, since, loose
    ):
        return None
    before = text[max(row_start if is_alone else _sentence_start(text, start), since) : start]
    if CONDITION.search(before):
        return None
    if raises_match := _RAISES.match(text, end):
        return _read_exception(text, raises_match.end(), raises_match["name"], subject)
    relation_match = symbol or _WORDS.match(text, end)
    if relation_match is None:
        return None
    value_start = relation_match.end()
    if empty_match := _EMPTY.match(text, value_start):
        return (
            (empty_match.end(), _EMPTIES[empty_match["kind"].lower()], "")
            if _is_complete(text, empty_match.end(), subject)
            else None
        )
    value_stop = _value_end(text, value_start)
    value_text = text[value_start:value_stop].strip()
    if symbol and value_text in literals.EXCEPTIONS | subject.exceptions:
        return _read_exception(text, value_stop, value_text, subject)
    node = literals.parse_expression(value_text) if value_text else None
    if node is None or not literals.is_value(node) or _is_annotation(text[start:end], symbol, node):
        return None
    return (
        (value_stop, value_text, "")
        if _is_complete(text, value_stop, subject, is_alone=bool(is_alone and symbol))
        else None
    )


def _read_exception(text: str, end: int, name: str, subject: DocumentedFunction) -> tuple[int, str, str] | None:
    is_known = name in literals.EXCEPTIONS or name in subject.exceptions
    return (end, "", name) if is_known and (text[end : end + 1] == ":" or _is_complete(text, end, subject)) else None


def _is_annotation(call: str, symbol: re.Match[str] | None, value: ast.expr) -> bool:
    """`f() -> None` and `f(x=1) -> None` are signatures."""
    node = literals.parse_expression(call)
    has_no_arguments = isinstance(node, ast.Call) and not node.args
    return bool(
        symbol and "=" not in symbol[0] and has_no_arguments and isinstance(value, ast.Constant) and value.value is None
    )


def _begins_sentence(text: str, begin: int, since: int) -> bool:
    """Does a sentence begin at this row?"""
    lines_above = text[:begin].rstrip(" \t")
    text_above = lines_above.rstrip()
    return (
        since == len(text_above)
        or not text_above
        or lines_above.endswith("\n\n")
        or text_above[-1] in ".:;!`"
        or lines_above[:-1] != text_above
    )


def _sentence_start(text: str, start: int) -> int:
    """The start of the sentence that contains a position."""
    breaks = list(
        re.finditer(
            r"[.!?:;](?=\s)(?<!e\.g\.)(?<!i\.e\.)|\n\s*\n|\n\s*[-*\u2022]\s", text[max(0, start - LONGEST) : start]
        )
    )
    return max(0, start - LONGEST) + breaks[-1].end() if breaks else max(0, start - LONGEST)


def _begins_statement(text: str, start: int, since: int, loose: int) -> bool:
    """Does a call inside a sentence begin a new statement?"""
    sentence_start = max(_sentence_start(text, start), since)
    if loose > sentence_start:  # follows another call without a value: "the sum of f(1) and f(2) is 5"
        return False
    words_before = text[sentence_start:start]
    clause_start = max((match.end() for match in re.finditer(r",\s|\(", words_before)), default=0)
    follows_conjunction = re.search(
        r"\b(?:so|so that|then|thus|hence|therefore|that|e\.g\.|i\.e\.)[,:]?\s+[`(]*$", words_before
    )
    return bool(
        _LEAD.fullmatch(words_before[clause_start:])
        or follows_conjunction
        or (since == sentence_start and re.fullmatch(r"[\s,;.`)]*(?:and|but|while)?[\s`]*", words_before))
    )


def is_governed(rows: Sequence[str], at: int) -> bool:
    """Does a heading above a row, or one that it is indented under, revoke it or make it conditional?"""
    margin = len(rows[at]) - len(rows[at].lstrip())
    blank_row_below = has_sibling = False
    for row in reversed(rows[max(0, at - NEAR) : at]):
        if not row.strip():
            blank_row_below = True
            continue
        row_margin = len(row) - len(row.lstrip())
        is_heading = row.rstrip().endswith(":") or row.lstrip().startswith("..")
        if is_heading and (row_margin < margin or (row_margin == margin and not has_sibling)) and CONDITION.search(row):
            return True
        has_sibling = has_sibling or (blank_row_below and row_margin == margin and not is_heading)
        margin = min(margin, row_margin)
    return False


def _value_end(text: str, start: int) -> int:
    """The end of the value at `start`: the end of its row, or the first character that cannot belong to it."""
    position = start
    while position < min(len(text), start + LONGEST):
        character = text[position]
        if character in "\"'":
            position = string_end(text, position)
        elif character in OPEN:
            if (
                position > start
                and text[position - 1] == " "
                and not text[start:position].strip().endswith(("+", "-", "*", ","))
            ):
                return position
            after_bracket = closing_position(text, position)
            if after_bracket is None:
                return position
            position = after_bracket
        elif (
            character in "\n`,;#" + CLOSED
            or (character in ".!?" and not re.match(r"[\w.]", text[position + 1 : position + 2]))
            or (character.isspace() and _STOP.match(text, position))
        ):
            return position
        else:
            position += 1
    return position


def _is_complete(text: str, end: int, subject: DocumentedFunction, *, is_alone: bool = False) -> bool:
    """Is the statement complete after the value? `is_alone`: the whole row is an equation in symbols."""
    closing_match = re.compile(r"[`\"'*]*\)?[`\"'*]*").match(text, end)
    position = closing_match.end() if closing_match else end
    closes_bracket = text[end:position].count(")") > 0
    rest_of_row = text[position:].split("\n", 1)[0] if "\n" in text[position:] else text[position:]
    remark = rest_of_row.strip()
    if DOUBTED.search(re.split(r"[.!?;](?:\s|$)", rest_of_row)[0]):
        return False
    if not remark:
        return is_alone or closes_bracket or _paragraph_ends(text, position + len(rest_of_row))
    if remark[0] in ".;!#":
        return not remark.startswith("..")
    if remark[0] == "(" or remark.startswith(("--", "\u2013", "\u2014")):
        return not CONDITION.search(remark)
    if following := re.match(r",?\s*(?:(?:and|but|while|whereas)\b)?\s*[`(]*(?=\S)", remark):
        next_words = remark[following.end() :]
        if re.match(rf"{re.escape(subject.name)}[.(]", next_words):
            return bool(following[0])
    if re.match(r"(?:,\s*)?(?:because|since)\b|,\s*(?:not|so|i\.e\.|as in|that is|which)\b", remark):
        return not re.search(r"\b(?:if|when|unless)\b", remark)
    if closes_bracket or re.match(r"and\s+[a-z]", remark):
        return not _NEXT_LITERAL.match(remark.removeprefix("and")) and not CONDITION.search(remark)
    return False


def _paragraph_ends(text: str, at: int) -> bool:
    """Does the sentence end with this row?"""
    next_row = text[at + 1 :].split("\n", 1)[0].strip() if at < len(text) else ""
    return not next_row or bool(re.match(r"[A-Z\-*\u2022`:>#\d]", next_row)) or "(" in next_row.split(" ")[0]
