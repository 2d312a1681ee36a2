"""Python source as it stands in an editor: its lines and its definitions, found by tree-sitter also in broken files.

It knows texts only: no files, no workspace, no tests. Line numbers are 1-based and inclusive, decorators included.
A function inside a function has no address of its own: it belongs to the outermost function around it.
"""

from __future__ import annotations

import io
import re
import threading
from bisect import bisect_left, bisect_right
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Literal

import tree_sitter
import tree_sitter_python

_LANGUAGE = tree_sitter.Language(tree_sitter_python.language())
_PARSER = tree_sitter.Parser(_LANGUAGE)
_LOCK = threading.Lock()
_MOST_KEPT = 32

# Statements that hold definitions without giving them another name.
_BLOCKS = {
    "block",
    "if_statement",
    "elif_clause",
    "else_clause",
    "try_statement",
    "except_clause",
    "except_group_clause",
    "finally_clause",
    "with_statement",
    "for_statement",
    "while_statement",
    "match_statement",
    "case_clause",
}
_NESTING = _BLOCKS | {"function_definition", "class_definition", "decorated_definition"}
_HEADER = re.compile(r"^([ \t\f]*)(?:(async)[ \t]+)?(def|class)[ \t]+([^\W\d]\w*)[ \t]*(?=[(\[:\\]|\r?\n?$)")
_NAME = re.compile(r"[^\W\d]\w*")
_TYPING = re.compile(rb"(?:typing\.|t\.)?TYPE_CHECKING")


@dataclass(frozen=True, kw_only=True)
class Definition:
    """A function, method or class that can be named from outside.

    `qualname` joins names by dots; `header_end` is the last line of the header (that of its colon);
    `bases` are a class's bases as written; `decorators` as written, without `@`;
    `docstring` is its first and last line, `examples` says that it has some (`>>>`);
    `typing_only` marks what stands under `if TYPE_CHECKING:`.
    """

    kind: Literal["class", "function"]
    name: str
    qualname: str
    start: int
    end: int
    name_line: int
    header_end: int
    bases: tuple[str, ...] = ()
    decorators: tuple[str, ...] = ()
    docstring: tuple[int, int] | None = None
    examples: bool = False
    typing_only: bool = False
    asynchronous: bool = False

    @property
    def owner(self) -> str:
        """Qualified name of the class it stands in; empty at the top level."""
        return self.qualname.rpartition(".")[0]


@dataclass(frozen=True, kw_only=True)
class Binding:
    """An import or assignment: its lines and the names it binds (`*` for a star import)."""

    kind: Literal["import", "assignment"]
    names: tuple[str, ...]
    start: int
    end: int


def words(text: str) -> set[str]:
    """Everything in the text that could be a name."""
    return set(_NAME.findall(text))


def lines(text: str) -> list[str]:
    """The lines with their ends. Unlike `str.splitlines`, only what Python takes for a line end counts as one."""
    return list(io.StringIO(text, newline=""))


def span(text: str, start: int, end: int) -> str:
    """Lines `start`..`end` of the text, 1-based and inclusive."""
    return "".join(lines(text)[start - 1 : end])


def definitions(text: str, path: str = "") -> tuple[Definition, ...]:
    """Every addressable definition in the order of the text.

    `path` is a key only: the newest text of each path is kept in parsed pieces, so that the next one, a keystroke
    later, costs the parse of the piece that changed.
    """
    return outline(text, path).definitions


def outline(text: str, path: str = "") -> Outline:
    """What `definitions` are taken from, for those who want few of them; `path` as there."""
    with _LOCK:
        kept = _kept.get(path)
        if kept is None:
            kept = _whole(text)
        elif kept.text != text:
            kept = kept.changed(text)
        _kept[path] = kept
        _kept.move_to_end(path)
        if len(_kept) > _MOST_KEPT:
            _kept.popitem(last=False)
        return kept


def bindings(text: str) -> tuple[Binding, ...]:
    """The imports and assignments at the top level, also those inside `if` and `try`, in the order of the text."""
    return tuple(_bindings(_parse(_normal(text)).children))


def enclosing(text: str, line: int, path: str = "") -> Definition | None:
    """The innermost addressable definition at a line."""
    return outline(text, path).at(line)


def lookup(found: Sequence[Definition], qualname: str) -> Definition | None:
    """The definition a name means at run time: the last one, but a property's getter, and neither overloads nor
    what only type checkers see while there is anything else.
    """
    same = [definition for definition in found if definition.qualname == qualname]
    real = [item for item in same if not item.typing_only and not any(_OVERLOAD.fullmatch(d) for d in item.decorators)]
    same = real or same
    if not same:
        return None
    return same[0] if any(_ACCESSOR.search(d) for d in same[-1].decorators) else same[-1]


_OVERLOAD = re.compile(r"(?:\w+\.)*overload")
_ACCESSOR = re.compile(r"\.(?:setter|getter|deleter|register)\b")


def _normal(text: str) -> str:
    # tree-sitter counts only \n as a line end; a lone \r is one for Python and for editors.
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _parse(normal: str) -> tree_sitter.Node:
    return _PARSER.parse(normal.encode("utf-8", "replace")).root_node


# -- pieces ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class _Piece:
    """One statement at the top level and what follows it: what it defines, in lines of its own.

    `open`: it is broken and its triple quotes do not pair, so that it may reach into other pieces.
    """

    found: tuple[Definition, ...]
    broken: bool = False
    open: bool = False


# Rows at the margin do not always begin a statement (within brackets): so many pieces may be one together.
_JOINED = 3
_Placed = tuple[int, int, _Piece]  # the character and the row where a piece begins


class Outline:
    """The definitions of a text in pieces, so that a change costs no more than the pieces it touches.

    Pieces know nothing of their place: those behind a change are taken along as they are.
    """

    def __init__(self, text: str, normal: str, placed: Sequence[_Placed]) -> None:
        self.text = text
        self._normal = normal
        self._begins = [begin for begin, _row, _piece in placed]
        self._rows = [row for _begin, row, _piece in placed]
        self._pieces = [piece for _begin, _row, piece in placed]

    @cached_property
    def definitions(self) -> tuple[Definition, ...]:
        """Every addressable definition in the order of the text."""
        return tuple(_lower(item, row) if row else item for item, row in self.placed())

    def placed(self) -> Iterator[tuple[Definition, int]]:
        """Every definition with the lines that stand before those it counts: for who needs few of its lines."""
        for row, piece in zip(self._rows, self._pieces, strict=True):
            for item in piece.found:
                yield item, row

    @cached_property
    def classes(self) -> dict[str, Definition]:
        """The classes by qualified name. Their lines mean nothing."""
        found = (item for piece in self._pieces for item in piece.found if item.kind == "class")
        return {item.qualname: item for item in found}

    @cached_property
    def names(self) -> frozenset[str]:
        """The qualified names of everything that is defined."""
        return frozenset(item.qualname for piece in self._pieces for item in piece.found)

    def at(self, line: int) -> Definition | None:
        """The innermost definition at a line."""
        index = max(bisect_right(self._rows, line - 1) - 1, 0)
        row, found = self._rows[index], None
        for item in self._pieces[index].found:
            if item.start + row <= line <= item.end + row:
                found = item
        return found and _lower(found, row)

    def line(self, number: int) -> str:
        r"""A line of the text, "" past its end; line ends are as `\n`."""
        index = max(bisect_right(self._rows, number - 1) - 1, 0)
        start = self._begins[index]
        for _row in range(self._rows[index], number - 1):
            start = self._normal.find("\n", start) + 1
            if not start:
                return ""
        return self._normal[start : self._normal.find("\n", start) + 1 or None]

    def changed(self, text: str) -> Outline:
        """The outline of the next text. Pieces on both sides of the change are taken along: a decorator, an `else`."""
        old, new = self._normal, _normal(text)
        head = _common(old, new, min(len(old), len(new)))
        tail = _common_tail(old, new, min(len(old), len(new)) - head)
        begins, pieces = self._begins, self._pieces
        first = max(0, bisect_right(begins, head) - 2)
        after = bisect_left(begins, len(old) - tail) + 1
        fresh = self._fresh(new, first, after)
        for _more in range(4):
            # What is broken at the edge may belong to the next piece: decorators, the rest of a block.
            below, above = fresh[-1][2].broken and after < len(begins), fresh[0][2].broken and first > 0
            if not (below or above):
                break
            first, after = first - above, after + below
            fresh = self._fresh(new, first, after)
        kept, moved = pieces[:first], pieces[after:]
        here = [piece for piece in (*pieces[first:after], *(each[2] for each in fresh)) if piece.broken]
        there = [piece for piece in (*kept, *moved) if piece.broken]
        if here and there and any(piece.open for piece in (*here, *there)):
            return _whole(text)  # A string that is open here may be closed there: only the whole text can tell.
        shift = len(new) - len(old)
        rows = new.count("\n", head, len(new) - tail) - old.count("\n", head, len(old) - tail)
        result = Outline(text, new, fresh)
        result._begins = [*begins[:first], *result._begins, *(begin + shift for begin in begins[after:])]
        result._rows = [*self._rows[:first], *result._rows, *(row + rows for row in self._rows[after:])]
        result._pieces = [*kept, *result._pieces, *moved]
        return result

    def _fresh(self, new: str, first: int, after: int) -> list[_Placed]:
        """The pieces `first`..`after` anew, as the new text has them."""
        begin, row = self._begins[first], self._rows[first]
        end = self._begins[after] + len(new) - len(self._normal) if after < len(self._begins) else len(new)
        return [(begin + at, row + down, piece) for at, down, piece in _split(new[begin:end])]


def _whole(text: str) -> Outline:
    normal = _normal(text)
    return Outline(text, normal, _split(normal))


_kept: OrderedDict[str, Outline] = OrderedDict()


def _common(old: str, new: str, most: int) -> int:
    """How many characters the beginnings share."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if old[low:middle] == new[low:middle] else (low, middle - 1)
    return low


def _common_tail(old: str, new: str, most: int) -> int:
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        same = old[len(old) - middle : len(old) - low] == new[len(new) - middle : len(new) - low]
        low, high = (middle, high) if same else (low, middle - 1)
    return low


def _lower(item: Definition, rows: int) -> Definition:
    # Written out: `dataclasses.replace` takes four times as long, and a file has a thousand of them.
    return Definition(
        kind=item.kind,
        name=item.name,
        qualname=item.qualname,
        start=item.start + rows,
        end=item.end + rows,
        name_line=item.name_line + rows,
        header_end=item.header_end + rows,
        bases=item.bases,
        decorators=item.decorators,
        docstring=(item.docstring[0] + rows, item.docstring[1] + rows) if item.docstring else None,
        examples=item.examples,
        typing_only=item.typing_only,
        asynchronous=item.asynchronous,
    )


def _split(normal: str) -> list[_Placed]:
    """The pieces of a text, or of a part of one that begins at the margin."""
    root = _parse(normal)
    if not _is_broken(root):
        return _by_nodes(normal, root.children)
    rows = lines(normal)
    starts = _starts(rows)
    if len(starts) == 1:
        return [(0, 0, _broken(normal, rows))]
    offsets = [0, *accumulate(len(line) for line in rows)]
    bounds = [*starts, len(rows)]
    result = []
    index = 0
    while index < len(starts):
        first = bounds[index]
        for several in range(1, min(_JOINED, len(starts) - index) + 1):
            part = normal[offsets[first] : offsets[bounds[index + several]]]
            node = _parse(part)
            if not _is_broken(node):
                break
        else:
            several = 1
            part = normal[offsets[first] : offsets[bounds[index + 1]]]
        piece = _broken(part, rows[first : bounds[index + 1]]) if _is_broken(node) else _sound(node.children)
        result.append((offsets[first], first, piece))
        index += several
    return result


def _sound(nodes: Sequence[tree_sitter.Node], row: int = 0) -> _Piece:
    found = _by_tree(nodes, "", typing_only=False)
    return _Piece(found=tuple(_lower(item, -row) if row else item for item in found))


def _broken(text: str, rows: Sequence[str]) -> _Piece:
    odd = any(text.count(quotes) % 2 for quotes in ('"""', "'''"))
    return _Piece(found=tuple(_by_indentation(rows)), broken=True, open=odd)


def _by_nodes(normal: str, nodes: Sequence[tree_sitter.Node]) -> list[_Placed]:
    """A piece for each row where nodes begin; the first one begins the text."""
    groups: dict[int, list[tree_sitter.Node]] = {}
    for node in nodes:
        groups.setdefault(node.start_point[0] if groups else 0, []).append(node)
    result: list[_Placed] = []
    offset = at = 0
    for row, group in groups.items():
        for _row in range(at, row):
            offset = normal.index("\n", offset) + 1
        at = row
        result.append((offset, row, _sound(group, row)))
    return result or [(0, 0, _Piece(found=()))]


def _is_broken(root: tree_sitter.Node) -> bool:
    """Does the parser, or its kindness to odd indentation, say that this is no whole Python text?"""
    if root.has_error:
        return True
    last = -1
    for node in root.children:
        row, column = node.start_point
        if column and row != last and node.type != "comment":
            return True
        last = node.end_point[0]
    return False


def _starts(rows: Sequence[str]) -> list[int]:
    """Rows where something at the margin begins, of a text that does not parse as a whole."""
    inside = _string_rows(rows)
    starts = [0]
    decorated = False
    for row, line in enumerate(rows):
        if row in inside or line[0] in " \t\f\r\n#)]}" or _CONTINUES.match(line):
            continue
        if row and not decorated:
            starts.append(row)
        decorated = line.startswith("@")
    return starts


_CONTINUES = re.compile(r"(?:else|elif|except|finally)\b")


# -- a tree without errors ----------------------------------------------------------------------------------------


def _by_tree(nodes: Sequence[tree_sitter.Node], prefix: str, *, typing_only: bool) -> Iterator[Definition]:
    for node in nodes:
        kind = node.type
        if kind in {"function_definition", "class_definition"}:
            yield from _definition(node, node, (), prefix, typing_only=typing_only)
        elif kind == "decorated_definition":
            inner = node.child_by_field_name("definition")
            if inner is not None:
                marks = tuple(_text(child)[1:].strip() for child in node.children if child.type == "decorator")
                yield from _definition(inner, node, marks, prefix, typing_only=typing_only)
        elif kind in _BLOCKS:
            hidden = kind == "if_statement" and _only_for_typing(node)
            yield from _by_tree(node.children, prefix, typing_only=typing_only) if not hidden else _typing(node, prefix)


def _only_for_typing(node: tree_sitter.Node) -> bool:
    condition = node.child_by_field_name("condition")
    return condition is not None and _TYPING.fullmatch(condition.text or b"") is not None


def _typing(node: tree_sitter.Node, prefix: str) -> Iterator[Definition]:
    for child in node.children:
        yield from _by_tree([child], prefix, typing_only=child.type == "block")


def _definition(
    node: tree_sitter.Node, outer: tree_sitter.Node, decorators: tuple[str, ...], prefix: str, *, typing_only: bool
) -> Iterator[Definition]:
    name = node.child_by_field_name("name")
    body = node.child_by_field_name("body")
    if name is None or body is None:
        return
    is_class = node.type == "class_definition"
    parents = node.child_by_field_name("superclasses") if is_class else None
    qualname = prefix + _text(name)
    docstring = _docstring(body)
    yield Definition(
        kind="class" if is_class else "function",
        name=_text(name),
        qualname=qualname,
        start=outer.start_point[0] + 1,
        end=_end(node),
        name_line=name.start_point[0] + 1,
        header_end=_colon(node, body),
        bases=tuple(_text(child) for child in parents.named_children) if parents is not None else (),
        decorators=decorators,
        docstring=(docstring.start_point[0] + 1, docstring.end_point[0] + 1) if docstring else None,
        examples=docstring is not None and b">>>" in (docstring.text or b""),
        typing_only=typing_only,
        asynchronous=node.children[0].type == "async",
    )
    if is_class:
        yield from _by_tree(body.children, f"{qualname}.", typing_only=typing_only)


def _text(node: tree_sitter.Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")


def _end(node: tree_sitter.Node) -> int:
    # As in `ast`: comments after the last statement do not belong to it, so look for the last real child.
    while node.type in _NESTING:
        inner = (
            child for child in reversed(node.children) if child.type != "comment" and child.end_byte > child.start_byte
        )
        last = next(inner, None)
        if last is None:
            break
        node = last
    row, column = node.end_point
    return row + 1 if column or row == node.start_point[0] else row


def _colon(node: tree_sitter.Node, body: tree_sitter.Node) -> int:
    for child in reversed(node.children):
        if child.type == ":":
            return child.start_point[0] + 1
    return body.start_point[0] + 1


def _docstring(body: tree_sitter.Node) -> tree_sitter.Node | None:
    for child in body.children:
        if child.type == "comment":
            continue
        if child.type == "expression_statement" and child.children:
            string = child.children[0]
            if string.type in {"string", "concatenated_string"} and len(child.children) == 1:
                return string
        return None
    return None


def _bindings(nodes: Sequence[tree_sitter.Node]) -> Iterator[Binding]:
    for node in nodes:
        if node.type in _BLOCKS:
            yield from _bindings(node.children)
        elif node.type in {"import_statement", "import_from_statement", "future_import_statement"}:
            taken = node.children_by_field_name("name")
            names = tuple(_imported(child, whole=node.type == "import_from_statement") for child in taken) or ("*",)
            yield _binding("import", names, node)
        elif node.type == "expression_statement" and node.children and node.children[0].type in _ASSIGNING:
            left = node.children[0].child_by_field_name("left")
            if left is not None and left.type in {"identifier", "pattern_list", "tuple_pattern", "list_pattern"}:
                yield _binding("assignment", tuple(_NAME.findall(_text(left))), node)
        elif node.type == "type_alias_statement":
            yield _binding("assignment", tuple(_NAME.findall(_text(node.named_children[0]))[:1]), node)


_ASSIGNING = {"assignment", "augmented_assignment"}


def _imported(node: tree_sitter.Node, *, whole: bool) -> str:
    if node.type == "aliased_import":
        alias = node.child_by_field_name("alias")
        return _text(alias) if alias is not None else ""
    return _text(node) if whole else _text(node).partition(".")[0]


def _binding(kind: Literal["import", "assignment"], names: tuple[str, ...], node: tree_sitter.Node) -> Binding:
    return Binding(kind=kind, names=names, start=node.start_point[0] + 1, end=node.end_point[0] + 1)


# -- a broken file: indentation is what is left ---------------------------------------------------------------------


@dataclass(kw_only=True)
class _Open:
    """A header whose block is being read; `end` is the last row of code seen in it."""

    indent: int
    qualname: str
    row: int
    header_end: int
    header: re.Match[str]
    nested: bool
    end: int = 0


def _by_indentation(rows: Sequence[str]) -> list[Definition]:
    inside = _string_rows(rows)
    found = []
    stack: list[_Open] = []
    last = 0
    for row, line in enumerate(rows):
        bare = line.lstrip(" \t\f")
        if not bare or bare[0] in "#\r\n":
            continue
        indent = _width(line[: len(line) - len(bare)])
        header = _HEADER.match(line) if bare.startswith(("def ", "class ", "async ")) else None
        leaves = bool(stack) and indent <= stack[-1].indent and bare[0] not in ")]}"
        if (leaves or header) and row not in inside:
            while leaves and stack and indent <= stack[-1].indent:
                stack[-1].end = last
                found.append(stack.pop())
            if header:
                prefix = f"{stack[-1].qualname}." if stack else ""
                nested = bool(stack) and (stack[-1].nested or stack[-1].header[3] == "def")
                stack.append(
                    _Open(
                        indent=indent,
                        qualname=prefix + header[4],
                        row=row,
                        header_end=_header_end(rows, row),
                        header=header,
                        nested=nested,
                    )
                )
        last = row
    for item in stack:
        item.end = last
    found.extend(stack)
    return [_opened(item, rows) for item in sorted(found, key=lambda item: item.row) if not item.nested]


def _opened(item: _Open, rows: Sequence[str]) -> Definition:
    is_class = item.header[3] == "class"
    start = _first_decorator(rows, item.row, item.indent)
    docstring = _docstring_rows(rows, item.header_end + 1)
    return Definition(
        kind="class" if is_class else "function",
        name=item.header[4],
        qualname=item.qualname,
        start=start + 1,
        end=max(item.end, item.header_end) + 1,
        name_line=item.row + 1,
        header_end=item.header_end + 1,
        bases=_bases("".join(rows[item.row : item.header_end + 1])) if is_class else (),
        decorators=tuple(line.strip()[1:].strip() for line in rows[start : item.row] if line.lstrip().startswith("@")),
        docstring=docstring,
        examples=docstring is not None and any(">>>" in row for row in rows[docstring[0] - 1 : docstring[1]]),
        asynchronous=item.header[2] == "async",
    )


def _string_rows(rows: Sequence[str]) -> set[int]:
    """Rows that begin inside a string of several lines; the parser cannot tell once it has lost its way."""
    text = "".join(rows)
    unclosed = text.count('"""') % 2 == 1 or text.count("'''") % 2 == 1
    found: set[int] = set()
    row = at = place = 0
    while match := _QUOTED.search(text, place):
        place = match.end()
        if match["long"] is None or "\n" not in match["long"]:
            continue
        if unclosed and _MARGIN.search(match["long"]):
            # A quote that is not closed turns code into "strings"; definitions at the margin tell.
            place = match.start() + 3
            continue
        row, at = row + text.count("\n", at, match.start()), match.start()
        found.update(range(row + 1, row + 1 + match["long"].count("\n")))
    return found


_QUOTED = re.compile(
    r"#[^\n]*"
    r"|(?P<long>\"\"\"(?:\\.|[^\\])*?\"\"\"|'''(?:\\.|[^\\])*?''')"
    r"|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'",
    re.DOTALL,
)
_MARGIN = re.compile(r"^(?:def|class|async def) ", re.MULTILINE)


def _width(blank: str) -> int:
    return len(blank.replace("\f", "").expandtabs(8))


def _indent_of(line: str) -> int:
    return _width(line[: len(line) - len(line.lstrip(" \t\f"))])


def _header_end(rows: Sequence[str], row: int) -> int:
    depth = 0
    for index in range(row, min(row + 400, len(rows))):
        code = _CODE.sub("", rows[index])
        depth += sum(code.count(mark) for mark in "([{") - sum(code.count(mark) for mark in ")]}")
        if depth <= 0 and ":" in code:
            return index
    return row  # The header itself is what is broken.


_CODE = re.compile(r"'[^'\n]*'|\"[^\"\n]*\"|#.*")


def _first_decorator(rows: Sequence[str], row: int, indent: int) -> int:
    start = row
    index = row - 1
    depth = 0
    while index >= 0 and rows[index].strip():
        code = _CODE.sub("", rows[index]).strip()
        depth += sum(code.count(mark) for mark in ")]}") - sum(code.count(mark) for mark in "([{")
        if code.startswith("@") and _indent_of(rows[index]) == indent:
            start, depth = index, 0
        elif depth <= 0 and not rows[index].lstrip().startswith("#"):
            break
        index -= 1
    return start


def _bases(header: str) -> tuple[str, ...]:
    _before, parenthesis, rest = header.partition("(")
    inner = rest.rpartition(")")[0]
    return tuple(part.strip() for part in inner.split(",") if part.strip()) if parenthesis else ()


def _docstring_rows(rows: Sequence[str], row: int) -> tuple[int, int] | None:
    while row < len(rows) and rows[row].strip()[:1] in {"", "#"}:
        row += 1
    if row >= len(rows) or not (match := _OPENING.match(rows[row])):
        return None
    quotes = match[1]
    if quotes in rows[row][match.end() :] or len(quotes) == 1:
        return row + 1, row + 1
    for index in range(row + 1, len(rows)):
        if quotes in rows[index]:
            return row + 1, index + 1
    return None


_OPENING = re.compile(r"[ \t]*[rRuU]?(\"\"\"|'''|\"|')")
