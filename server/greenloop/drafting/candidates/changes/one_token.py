"""Every one-token change of a function or an assignment.

Operators after mutation-based repair (Debroy and Wong, "Using mutation to automatically suggest fixes for faulty
programs", 2010): comparison, boundary, arithmetic, logical and assignment operator, argument order, one name in
scope for another, and a statement deleted.
Every change is made in the text itself, so that layout and comments stay.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from greenloop.core.python.assignments import Assignment
from greenloop.core.python.ast_source import FUNCTIONS, Fragment, docstring_statement, parse_fragment, statement_blocks
from greenloop.core.records.attempt import Attempt
from greenloop.drafting.candidates.changes.change import (
    Change,
    ChangeKind,
    Edit,
    change_of,
    replace_node,
    syntax_repairs,
)

COMPARISONS = {
    "<": ("<=", ">", ">="), "<=": ("<", ">=", ">"), ">": (">=", "<", "<="), ">=": (">", "<=", "<"),
    "==": ("!=", "<=", ">="), "!=": ("==",), "in": ("not in",), "not in": ("in",), "is": ("is not",),
    "is not": ("is",),
}  # fmt: skip
OPERATORS = {
    "+": ("-", "*"), "-": ("+", "*"), "*": ("+", "**", "//"), "/": ("//", "*"), "//": ("/", "%", "*"),
    "%": ("//", "/"), "**": ("*",), "&": ("|", "^"), "|": ("&", "^"), "^": ("|", "&"), "<<": (">>",), ">>": ("<<",),
}  # fmt: skip
TWINS = {
    "min": "max", "any": "all", "append": "extend", "lower": "upper", "startswith": "endswith", "lstrip": "rstrip",
    "floor": "ceil", "find": "rfind", "islower": "isupper", "index": "rindex",
}  # fmt: skip
TWINS |= {value: key for key, value in TWINS.items()}
# Pieces of regular expressions: repetitions, classes, anchors.
PATTERNS = {
    "*": ("+", "?"), "+": ("*", ""), "?": ("", "*"), ".": (r"\.",), r"\.": (".",), "^": ("",), "$": ("",),
    r"\d": (r"\w",), r"\w": (r"\d", r"\S"), r"\s": (r"\S",), r"\S": (r"\w", r"\s"), r"\b": ("",), "[^": ("[",),
    "a-z": ("a-zA-Z", "a-z0-9"), "A-Z": ("A-Za-z", "A-Z0-9"), "0-9": ("0-9a-z",),
}  # fmt: skip
_PATTERN_TOKEN = re.compile(rb"\\.|\[\^|\(\?|a-z|A-Z|0-9|[*+?.^$]")
SIMPLE = (ast.Assign, ast.AugAssign, ast.Expr, ast.Return, ast.Break, ast.Continue, ast.Raise)
MOST_NAMES = 8  # names in scope that are tried as replacements


def one_token(text: str, _attempt: Attempt) -> Iterator[Change]:
    """As `one_token_changes`, whatever the attempt has shown."""
    yield from one_token_changes(text)


def one_token_changes(text: str) -> list[Change]:
    """Every one-token change of the text, in the order of its kinds; of broken text, those that make it parse.

    It is a function, whose body and defaults are changed, or an assignment.
    """
    parsed = parse_fragment(text)
    if not isinstance(parsed, Fragment):
        return [Change(line=line, text=new, kind=ChangeKind.SYNTAX) for line, new in syntax_repairs(text, parsed)]
    rows = [line.encode() for line in parsed.lines]
    functions = [node for item in parsed.body for node in ast.walk(item) if isinstance(node, FUNCTIONS)]
    nodes = [node for function in functions[:1] for node in _body_nodes(function)]
    if not functions:
        nodes = [node for item in parsed.body if isinstance(item, Assignment) for node in ast.walk(item)]
    kinds = (_comparisons, _boundaries, _operators, _word_changes, _swaps, _pattern_changes)
    result = [(ChangeKind.SYMBOL, edit) for kind in kinds for node in nodes for edit in kind(node, rows)]
    result += [(ChangeKind.SYMBOL, edit) for edit in _additions(nodes, rows)]
    for function in functions[:1]:
        result += [(ChangeKind.NAME, edit) for edit in (*_name_changes(function, nodes), *_attribute_changes(nodes))]
        result += [(ChangeKind.DELETION, edit) for node in [function, *nodes] for edit in _deletions(node)]
    return [change_of(parsed, [edit], kind) for kind, edit in result]


def _body_nodes(function: ast.AST) -> list[ast.AST]:
    """All nodes of the body except the docstring, those of nested functions included; then those of the defaults."""
    body = [item for item in getattr(function, "body", []) if item is not docstring_statement(function)]
    defaults: list[ast.AST] = []
    if isinstance(function, FUNCTIONS):
        defaults += [item for item in (*function.args.defaults, *function.args.kw_defaults) if item is not None]
    return [node for item in (*body, *defaults) for node in ast.walk(item)]


def _operator_between(
    rows: Sequence[bytes], left: ast.expr, right: ast.expr, operators: Sequence[str]
) -> tuple[int, int, int, str]:
    """Line, start, end and text of the operator between two operands; line 0 where it cannot be located."""
    line = left.end_lineno or 0
    if line != right.lineno:
        return 0, 0, 0, ""
    start, end = left.end_col_offset or 0, right.col_offset
    longest_first = sorted(operators, key=len, reverse=True)
    match = re.search(
        rb"(?<![\w])(?:"
        + b"|".join(re.escape(word).replace(r"\ ", r"\s+").encode() for word in longest_first)
        + rb")(?![\w])"
        if longest_first[0][0].isalpha()
        else b"|".join(re.escape(word).encode() for word in longest_first),
        rows[line - 1][start:end],
    )
    if match is None:
        return 0, 0, 0, ""
    return line, start + match.start(), start + match.end(), match[0].decode()


def _comparisons(node: ast.AST, rows: Sequence[bytes]) -> Iterator[Edit]:
    if not isinstance(node, ast.Compare):
        return
    symbols = [sign for sign in COMPARISONS if not sign[0].isalpha()]
    words = [sign for sign in COMPARISONS if sign[0].isalpha()]
    operands = [node.left, *node.comparators]
    for left, right, sign in zip(operands, operands[1:], node.ops, strict=False):
        is_word = isinstance(sign, ast.In | ast.NotIn | ast.Is | ast.IsNot)
        line, start, end, text = _operator_between(rows, left, right, words if is_word else symbols)
        for new in COMPARISONS.get(" ".join(text.split()), ()) if line else ():
            yield Edit(line=line, start=start, end=end, new=new)


def _boundaries(node: ast.AST, rows: Sequence[bytes]) -> Iterator[Edit]:
    """Integers one up and one down; bounds of ranges and slices, subscripts and returned values off by one."""
    if isinstance(node, ast.Constant) and type(node.value) is int and abs(node.value) < 10_000:
        # Nothing added reads better than 0 added: see below.
        for value in (node.value + 1, node.value - 1) if not _is_signed_one(node, rows) else (2,):
            yield replace_node(node, f"({value})" if value < 0 and _after_operator(node, rows) else str(value))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub) and _is_one(node.right):
        if node.left.lineno == node.left.end_lineno == node.end_lineno:
            row = rows[node.left.lineno - 1]
            yield replace_node(node, row[node.left.col_offset : node.left.end_col_offset].decode())
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and _is_one(node.operand):
        yield replace_node(node, "0")
    bounds: list[ast.expr | None] = []
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range":
        bounds = list(node.args)
    elif isinstance(node, ast.Slice):
        bounds = [node.lower, node.upper]
    elif isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Slice | ast.Tuple):
        bounds = [node.slice]
    elif isinstance(node, ast.Return) and node.value is not None:
        bounds = [node.value] if isinstance(node.value, ast.Name | ast.BinOp | ast.Call) else []
    for item in bounds:
        if item is None or isinstance(item, ast.Constant) or item.lineno != item.end_lineno:
            continue
        old = rows[item.lineno - 1][item.col_offset : item.end_col_offset].decode()
        for new in (f"{old} + 1", f"{old} - 1"):
            yield replace_node(item, new)
        if isinstance(item, ast.BinOp) and isinstance(item.op, ast.Add | ast.Sub):
            left = item.left
            if left.lineno == left.end_lineno:
                yield replace_node(item, rows[left.lineno - 1][left.col_offset : left.end_col_offset].decode())


def _is_one(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is int and node.value == 1


def _is_signed_one(node: ast.Constant, rows: Sequence[bytes]) -> bool:
    return _is_one(node) and rows[node.lineno - 1][: node.col_offset].rstrip()[-1:] in (b"+", b"-")


def _after_operator(node: ast.Constant, rows: Sequence[bytes]) -> bool:
    return rows[node.lineno - 1][: node.col_offset].rstrip()[-1:] in (b"-", b"*", b"+", b"/", b"%")


def _operators(node: ast.AST, rows: Sequence[bytes]) -> Iterator[Edit]:
    if isinstance(node, ast.BinOp):
        line, start, end, text = _operator_between(rows, node.left, node.right, list(OPERATORS))
        for new in OPERATORS.get(text, ()) if line else ():
            yield Edit(line=line, start=start, end=end, new=new)
    elif isinstance(node, ast.AugAssign):
        line, start, end, text = _operator_between(rows, node.target, node.value, [f"{sign}=" for sign in OPERATORS])
        for new in (*OPERATORS.get(text[:-1], ()), "") if line else ():
            yield Edit(line=line, start=start, end=end, new=f"{new}=")
    elif isinstance(node, ast.BoolOp):
        for left, right in zip(node.values, node.values[1:], strict=False):
            line, start, end, text = _operator_between(rows, left, right, ["and", "or"])
            if line:
                yield Edit(line=line, start=start, end=end, new="or" if text == "and" else "and")


def _additions(nodes: Sequence[ast.AST], rows: Sequence[bytes]) -> Iterator[Edit]:
    """`+=` for each `=` whose target may already have a value."""
    stored = Counter(node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    for node in nodes:
        if not isinstance(node, ast.Assign) or len(node.targets) > 1:
            continue
        target = node.targets[0]
        rebound = isinstance(target, ast.Name) and stored[target.id] > 1
        line, start, end, _ = _operator_between(rows, target, node.value, ["="])
        if line and (rebound or isinstance(target, ast.Attribute | ast.Subscript)):
            yield Edit(line=line, start=start, end=end, new="+=")


def _word_changes(node: ast.AST, rows: Sequence[bytes]) -> Iterator[Edit]:
    """True for False, a dropped or an added `not`, a function replaced by its counterpart."""
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield replace_node(node, str(not node.value))
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not) and node.lineno == node.operand.lineno:
        spaces = re.match(rb"not\s*", rows[node.lineno - 1][node.col_offset :])
        yield Edit(line=node.lineno, start=node.col_offset, end=node.col_offset + len(spaces[0] if spaces else b"not"))
    elif isinstance(node, ast.If | ast.While) and node.test.lineno == node.test.end_lineno:
        old = rows[node.test.lineno - 1][node.test.col_offset : node.test.end_col_offset].decode()
        yield replace_node(node.test, f"not ({old})")
    elif isinstance(node, ast.Name) and node.id in TWINS:
        yield replace_node(node, TWINS[node.id])
    elif isinstance(node, ast.Attribute) and node.attr in TWINS and node.end_col_offset is not None:
        end = node.end_col_offset
        yield Edit(
            line=node.end_lineno or node.lineno, start=end - len(node.attr.encode()), end=end, new=TWINS[node.attr]
        )


def _swaps(node: ast.AST, rows: Sequence[bytes]) -> Iterator[Edit]:
    """Swaps of adjacent arguments, of operands of `-`, `/`, `//`, `%` or `**`, and of items of a pair."""
    pairs: list[tuple[ast.expr, ast.expr]] = []
    if isinstance(node, ast.Call):
        pairs = list(zip(node.args, node.args[1:], strict=False))
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub | ast.Div | ast.FloorDiv | ast.Mod | ast.Pow):
        pairs = [(node.left, node.right)]
    elif isinstance(node, ast.Tuple) and len(node.elts) == 2 and isinstance(node.ctx, ast.Load):
        pairs = [(node.elts[0], node.elts[1])]
    for left, right in pairs:
        if not left.lineno == left.end_lineno == right.lineno == right.end_lineno:
            continue
        row = rows[left.lineno - 1]
        left_text, right_text = row[left.col_offset : left.end_col_offset], row[right.col_offset : right.end_col_offset]
        middle = row[left.end_col_offset : right.col_offset]
        if left_text != right_text:
            new = (right_text + middle + left_text).decode()
            yield Edit(line=left.lineno, start=left.col_offset, end=right.end_col_offset or 0, new=new)


def _pattern_changes(node: ast.AST, rows: Sequence[bytes]) -> Iterator[Edit]:
    """Changes of one character or class in a pattern that is given to `re`: how often, which kind, anchored or not."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or not node.args:
        return
    if getattr(node.func.value, "id", "") not in ("re", "regex"):
        return
    pattern = node.args[0]
    if not isinstance(pattern, ast.Constant) or not isinstance(pattern.value, str | bytes):
        return
    if pattern.lineno != pattern.end_lineno:
        return
    text = rows[pattern.lineno - 1][pattern.col_offset : pattern.end_col_offset]
    quote = re.match(rb"[a-zA-Z]*('''|\"\"\"|'|\")", text)
    if quote is None:
        return
    first, last = quote.end(), len(text) - len(quote[1])
    is_raw = b"r" in text[:first].lower()
    for match in _PATTERN_TOKEN.finditer(text, first, last):
        for new in PATTERNS.get(match[0].decode(), ()):
            if "\\" in new and not is_raw:
                continue
            start = pattern.col_offset + match.start()
            yield Edit(line=pattern.lineno, start=start, end=start + len(match[0]), new=new)
    for place, anchor in ((first, "^"), (last, "$")):
        if text[place - (anchor == "$") :][:1] != anchor.encode():
            column = pattern.col_offset + place
            yield Edit(line=pattern.lineno, start=column, end=column, new=anchor)


def _name_changes(function: ast.AST, nodes: Sequence[ast.AST]) -> Iterator[Edit]:
    """Each name that is read, replaced by the other parameters and local names."""
    arguments = getattr(function, "args", None)
    in_scope = [item.arg for item in ast.walk(arguments) if isinstance(item, ast.arg)] if arguments else []
    in_scope += [node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    replacements = list(dict.fromkeys(name for name in in_scope if name not in ("self", "cls", "_")))[:MOST_NAMES]
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in replacements:
            for replacement in replacements:
                if replacement != node.id:
                    yield replace_node(node, replacement)


def _attribute_changes(nodes: Sequence[ast.AST]) -> Iterator[Edit]:
    """Each attribute, replaced by the others of the function: methods by methods, values by values."""
    methods = {node.func for node in nodes if isinstance(node, ast.Call)}
    attributes = [node for node in nodes if isinstance(node, ast.Attribute)]
    for node in attributes:
        alike = [each.attr for each in attributes if (each in methods) is (node in methods) and each.attr != node.attr]
        end = node.end_col_offset or 0
        for name in list(dict.fromkeys(alike))[:MOST_NAMES]:
            yield Edit(line=node.end_lineno or node.lineno, start=end - len(node.attr.encode()), end=end, new=name)


def _deletions(node: ast.AST) -> Iterator[Edit]:
    """Deletes each simple one-line statement that is not alone in its block."""
    for block in statement_blocks(node):
        for item in block:
            simple = isinstance(item, SIMPLE) and item.lineno == item.end_lineno
            if simple and len(block) > 1 and item is not docstring_statement(node):
                yield Edit(line=item.lineno, end_line=item.lineno + 1)
