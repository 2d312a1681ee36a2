"""Keeps the user's parts of a replaced definition: docstring, decorators, annotations and others.

Defaults and class members are kept too. The user's text wins wherever the answer says the same or nothing; the answer
wins where it changes behaviour. The docstring is always the user's: it is a specification, which a candidate may not
change.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from greenloop.core.python.ast_source import (
    DEFINITIONS,
    FUNCTIONS,
    Definition,
    Fragment,
    Function,
    decorator_role,
    defaults,
    docstring_statement,
    dump_tree,
    parameters,
    parse_fragment,
    source_of,
    start_line,
)
from greenloop.core.python.indentation import indentation_of


@dataclass(frozen=True, kw_only=True)
class _Parts:
    """The parts of a definition. `tail` follows the colon on its line; an inline body is in `body`."""

    node: Definition
    lines: Sequence[str]
    decorators: tuple[str, ...]
    header: str
    tail: str
    inline: bool
    body: tuple[str, ...]


def keep_users_parts(text: str, user: str, unit: str) -> str:
    """The answer's definition with the user's parts; both texts have the same indentation."""
    new, old = _parse_definition(text), _parse_definition(user)
    if new is None or old is None or isinstance(new.node, ast.ClassDef) != isinstance(old.node, ast.ClassDef):
        return text
    result = _class(new, old, unit) if isinstance(old.node, ast.ClassDef) else _definition(new, old, unit)
    return "\n".join(result) + "\n"


def body_margin(text: str) -> str | None:
    """The indentation of a definition's body; None where the body is on the line of the header."""
    parts = _parse_definition(text)
    if parts is None or parts.inline:
        return None
    return indentation_of(parts.lines[parts.node.body[0].lineno - 1])


def with_first_line(text: str, line: str, unit: str) -> str:
    """The function with one more statement at the top of its body, below the docstring."""
    parts = _parse_definition(text)
    if parts is None:
        return text
    base = indentation_of(parts.header)
    inner = body_margin(text) or base + unit
    doc = docstring_statement(parts.node)
    if parts.inline:
        rows = [
            *parts.decorators,
            parts.header,
            inner + line,
            *(inner + row for row in parts.body[:1]),
            *parts.body[1:],
        ]
        return "\n".join(rows) + "\n"
    insert_after = doc.end_lineno if doc else parts.node.body[0].lineno - 1
    rows = list(parts.lines[start_line(parts.node, parts.lines) - 1 : parts.node.end_lineno])
    rows.insert((insert_after or 1) - start_line(parts.node, parts.lines) + 1, inner + line)
    return "\n".join(rows) + "\n"


def _parse_definition(text: str) -> _Parts | None:
    parsed = parse_fragment(text)
    if isinstance(parsed, SyntaxError):
        return None
    node = next((item for item in parsed.body if isinstance(item, DEFINITIONS)), None)
    return _parts(parsed, node) if node else None


def _parts(definition: Fragment, node: Definition) -> _Parts:
    lines = definition.lines
    row, column = _colon(lines, node)
    last = node.end_lineno or node.lineno
    header = "\n".join([*lines[node.lineno - 1 : row - 1], lines[row - 1][: column + 1]])
    if row == node.lineno:
        header = lines[row - 1][: column + 1]
    rest = lines[row - 1][column + 1 :]
    inline = node.body[0].lineno == row
    return _Parts(
        node=node,
        lines=lines,
        decorators=tuple(lines[start_line(node, lines) - 1 : node.lineno - 1]),
        header=header,
        tail="" if inline else rest.rstrip(),
        inline=inline,
        body=(rest.strip(), *lines[row:last]) if inline else tuple(lines[row:last]),
    )


def _colon(lines: Sequence[str], node: Definition) -> tuple[int, int]:
    """Line (1-based) and column of the colon that ends the header.

    Between the last expression of the header and the body there are only `)`, `]`, commas, comments and the colon.
    """
    header_nodes = [
        *(ast.walk(node.args) if isinstance(node, FUNCTIONS) else []),
        *([node.returns] if isinstance(node, FUNCTIONS) and node.returns else []),
        *([*node.bases, *(item.value for item in node.keywords)] if isinstance(node, ast.ClassDef) else []),
        *getattr(node, "type_params", []),
    ]
    ends = [(item.end_lineno, item.end_col_offset) for item in header_nodes if getattr(item, "end_lineno", None)]
    row, offset = max(ends, default=(node.lineno, node.col_offset))
    column = len(lines[row - 1].encode()[:offset].decode())
    while True:
        code = lines[row - 1]
        comment = code.find("#", column)
        colon = code.find(":", column, comment if comment >= 0 else len(code))
        if colon >= 0:
            return row, colon
        row, column = row + 1, 0


def _definition(new: _Parts, old: _Parts, unit: str) -> list[str]:
    decorators = old.decorators if _keeps_decorators(new.node, old.node) else new.decorators
    header = _header(new, old)
    doc = _users_docstring(old, unit)
    body = list(new.body)
    if doc:
        answer_doc = docstring_statement(new.node)
        if answer_doc and not new.inline:
            if len(new.node.body) > 1 and new.node.body[1].lineno == answer_doc.end_lineno:
                return [*decorators, header + new.tail, *new.body]  # `"""doc"""; code`: too rare to handle
            body = list(new.lines[answer_doc.end_lineno or 1 : new.node.end_lineno])
        elif answer_doc:
            body = []
        elif new.inline:
            body = [indentation_of(old.header) + unit + body[0], *body[1:]]
        if not answer_doc:
            body = [*_blank_after_docstring(old), *body]
        return [*decorators, header + (old.tail or new.tail), *doc, *body]
    if new.inline:
        return [*decorators, f"{header} {body[0]}", *body[1:]]
    return [*decorators, header + (old.tail or new.tail), *body]


def _users_docstring(old: _Parts, unit: str) -> list[str]:
    doc = docstring_statement(old.node)
    if doc is None:
        return []
    is_alone = len(old.node.body) == 1 or old.node.body[1].lineno != doc.end_lineno
    if old.inline or not is_alone:
        inner = indentation_of(old.header) + unit if old.inline else indentation_of(old.lines[doc.lineno - 1])
        return (inner + source_of(doc, old.lines)).split("\n")
    count = (doc.end_lineno or 1) - (old.node.end_lineno or 1)
    return list(old.body[: len(old.body) + count])


def _blank_after_docstring(old: _Parts) -> list[str]:
    doc = docstring_statement(old.node)
    if doc is None or len(old.node.body) < 2 or old.inline:
        return []
    rows = old.lines[doc.end_lineno or 1 : start_line(old.node.body[1], old.lines) - 1]
    blank = []
    for row in rows:
        if row.strip():
            break
        blank.append(row)
    return blank


def _keeps_decorators(new: Definition, old: Definition) -> bool:
    return not new.decorator_list or [dump_tree(item) for item in new.decorator_list] == [
        dump_tree(item) for item in old.decorator_list
    ]


def _header(new: _Parts, old: _Parts) -> str:
    answer, user = new.node, old.node
    if type(answer) is not type(user) or answer.name != user.name:
        return new.header
    if isinstance(answer, ast.ClassDef) and isinstance(user, ast.ClassDef):
        return new.header if answer.bases or answer.keywords else old.header
    if not isinstance(answer, FUNCTIONS) or not isinstance(user, FUNCTIONS) or parameters(answer) != parameters(user):
        return new.header
    answer_defaults, user_defaults = defaults(answer), defaults(user)
    if set(answer_defaults) - set(user_defaults):
        return new.header
    answer_annotations, user_annotations = _annotations(answer), _annotations(user)
    adds_annotations = any(
        dump_tree(mark) != dump_tree(user_annotations.get(name)) for name, mark in answer_annotations.items()
    )
    if adds_annotations and set(user_annotations) <= set(answer_annotations):
        return new.header
    changed = {
        name: value for name, value in answer_defaults.items() if dump_tree(value) != dump_tree(user_defaults[name])
    }
    return _with_defaults(
        old, {id(user_defaults[name]): source_of(value, new.lines) for name, value in changed.items()}
    )


def _annotations(node: Function) -> dict[str, ast.expr]:
    args = node.args
    arguments = [*args.posonlyargs, *args.args, *args.kwonlyargs, *(item for item in (args.vararg, args.kwarg) if item)]
    annotations = {item.arg: item.annotation for item in arguments if item.annotation}
    return annotations | ({"return": node.returns} if node.returns else {})


def _with_defaults(old: _Parts, values: dict[int, str]) -> str:
    """The user's header with some defaults replaced; `values` has their source by the id of their node."""
    node = old.node
    assert isinstance(node, FUNCTIONS)
    header = old.header.encode()
    starts = [0]
    for row in header.split(b"\n"):
        starts.append(starts[-1] + len(row) + 1)
    replaced = [
        item for item in [*node.args.defaults, *node.args.kw_defaults] if item is not None and id(item) in values
    ]
    for item in sorted(replaced, key=lambda one: (one.lineno, one.col_offset), reverse=True):
        begin = starts[item.lineno - node.lineno] + item.col_offset
        end = starts[(item.end_lineno or item.lineno) - node.lineno] + (item.end_col_offset or 0)
        header = header[:begin] + values[id(item)].encode() + header[end:]
    return header.decode()


# -- classes ----------------------------------------------------------------------------------------------------


def _key(node: ast.stmt) -> tuple[str, str] | None:
    """The name and role that identify a member of a class; None for other statements."""
    if isinstance(node, DEFINITIONS):
        return node.name, decorator_role(node)
    target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
    target = node.target if isinstance(node, ast.AnnAssign) else target
    return (target.id, "=") if isinstance(target, ast.Name) else None


def _members_by_key(body: Sequence[ast.stmt]) -> Iterator[tuple[tuple[str, str, int], ast.stmt]]:
    """Members by key and number, since overloads share name and role."""
    counted: Counter[tuple[str, str]] = Counter()
    for item in body:
        if key := _key(item):
            yield (*key, counted[key]), item
            counted[key] += 1


def _class(new: _Parts, old: _Parts, unit: str) -> list[str]:
    """The user's class with the members that the answer changes or adds; members that it omits stay."""
    if new.inline or old.inline:
        return _definition(new, old, unit)
    members = dict(_members_by_key(old.node.body))
    changes: list[tuple[int, int, list[str]]] = []
    fields: list[str] = []
    methods: list[str] = []
    for key, item in _members_by_key(new.node.body):
        text = new.lines[start_line(item, new.lines) - 1 : item.end_lineno]
        existing = members.get(key)
        if existing is None and isinstance(item, DEFINITIONS):
            methods += ["", *text]
        elif existing is None:
            fields += text
        elif dump_tree(existing) != dump_tree(item):
            first, last = start_line(existing, old.lines), existing.end_lineno or existing.lineno
            user_text = "\n".join(old.lines[first - 1 : last])
            kept = (
                keep_users_parts("\n".join(text), user_text, unit) if isinstance(item, DEFINITIONS) else "\n".join(text)
            )
            changes.append((first, last, kept.rstrip("\n").split("\n")))
    rows = list(old.lines[: old.node.end_lineno])
    if methods or fields:
        changes += [
            (start_line(item, old.lines), item.end_lineno or item.lineno, [])
            for item in old.node.body
            if isinstance(item, ast.Pass)
        ]
    if fields:
        field_line = _fields_line(old)
        changes.append((field_line, field_line - 1, fields))
    for begin, end, text in sorted(changes, key=lambda change: change[:2], reverse=True):
        rows[begin - 1 : end] = text
    header = _header(new, old)
    if header != old.header:
        height = old.header.count("\n") + 1
        rows[old.node.lineno - 1 : old.node.lineno - 1 + height] = (header + old.tail).split("\n")
    decorators = old.decorators if _keeps_decorators(new.node, old.node) else new.decorators
    return [*decorators, *rows[old.node.lineno - 1 :], *methods]


def _fields_line(old: _Parts) -> int:
    """The line before which new class attributes go: after the docstring and the existing attributes."""
    line = old.node.body[0].lineno
    for item in old.node.body:
        if item is docstring_statement(old.node) or (_key(item) or ("", ""))[1] == "=":
            line = (item.end_lineno or item.lineno) + 1
        elif isinstance(item, DEFINITIONS):
            break
    return line
