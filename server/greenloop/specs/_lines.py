"""Reads test lines that a model wrote: `assert CALL == VALUE` or `with pytest.raises(ERROR): CALL`, one line each.

A line is taken only where nothing in it can do anything but make values and call the function under test: no imports,
files, dunder names, assignments. Everything else is left out without a word, since small models write much around it.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator
from dataclasses import dataclass

from greenloop.specs._outline import Outline
from greenloop.specs._safe import named, needs

LONGEST = 400  # characters of a test
_JOINED = 8  # rows over which one test may go
_START = re.compile(r"^[\s>*•\-\d.)`]*(?=(?:assert|with (?:pytest\.)?raises)\b)")


@dataclass(frozen=True, kw_only=True)
class Line:
    """A test that can be run: the statement, the call in it, what it says of it, and what must be imported.

    `own` are classes of the module under test that it uses.
    """

    text: str
    call: str
    says: str
    imports: tuple[str, ...] = ()
    own: tuple[str, ...] = ()


def lines(answer: str, about: Outline) -> Iterator[Line]:
    """The tests of an answer that can be read, in its order."""
    rows = answer.replace("\r\n", "\n").split("\n")
    at = 0
    while at < len(rows):
        tree, used = _statement(rows, at)
        at += used
        found = _line(tree, about) if tree is not None else None
        if found is not None and len(found.text) <= LONGEST:
            yield found


def _statement(rows: list[str], at: int) -> tuple[ast.stmt | None, int]:
    """The statement that begins in a row, and how many rows it takes."""
    if not _START.match(rows[at]):
        return None, 1
    text = _START.sub("", rows[at]).rstrip("` ")
    for more in range(1, _JOINED + 1):
        try:
            body = ast.parse(text).body
        except (ValueError, RecursionError, MemoryError):
            return None, 1
        except SyntaxError:
            if at + more >= len(rows):
                return None, 1
            text += " " + rows[at + more].strip()
            continue
        return (body[0] if len(body) == 1 else None), more
    return None, 1


def _line(node: ast.stmt, about: Outline) -> Line | None:
    if isinstance(node, ast.With):
        return _raising(node, about)
    return _asserting(node.test, about) if isinstance(node, ast.Assert) else None


def _raising(node: ast.With, about: Outline) -> Line | None:
    if len(node.items) != 1 or len(node.body) != 1 or not isinstance(node.body[0], ast.Expr):
        return None
    context, call = node.items[0].context_expr, _plain(node.body[0].value)
    if not (isinstance(context, ast.Call) and len(context.args) == 1 and isinstance(context.args[0], ast.Name)):
        return None
    error = context.args[0].id
    builtin = getattr(builtins, error, None)
    known = isinstance(builtin, type) and issubclass(builtin, Exception)
    if not (known or error in about.classes):
        return None
    used = needs(call, about)
    if used is None or not _calls(call, about):
        return None
    text = f"with pytest.raises({error}): {_run(call, about)}"
    own = used.own if known else (*used.own, error)
    return Line(
        text=text, call=ast.unparse(call), says=f"raises {error}", imports=used.importing("import pytest"), own=own
    )


def _asserting(test: ast.expr, about: Outline) -> Line | None:
    test = _plain(test)
    pair = _pair(test, about)
    if pair is None:
        return None
    call, value, form = pair
    used, needed = needs(call, about), needs(value, about)
    if used is None or needed is None or _calls(value, about) or not (_calls(call, about) and _fits(call, about)):
        return None
    says = ast.unparse(value)
    close = _close(value) if form == "==" else ""
    imports = used.importing(*needed.imports, *(["import pytest"] if close else []))
    shown = _run(call, about)
    if about.asynchronous:
        imports = (*imports, "import asyncio")
    text = {"true": f"assert {shown}", "false": f"assert not {shown}"}.get(
        form, f"assert {shown} {form} {close or says}"
    )
    return Line(text=text, call=ast.unparse(call), says=says, imports=imports, own=(*used.own, *needed.own))


def _pair(test: ast.expr, about: Outline) -> tuple[ast.expr, ast.expr, str] | None:
    """What is called, what it shall be, and how the two are compared."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return test.operand, ast.Constant(False), "false"
    if isinstance(test, ast.Call) and ast.unparse(test.func) == "math.isclose" and len(test.args) == 2:
        return test.args[0], test.args[1], "=="
    if not isinstance(test, ast.Compare):
        return test, ast.Constant(True), "true"
    if len(test.ops) != 1:
        return None
    left, right = test.left, _unapproximated(test.comparators[0])
    if isinstance(test.ops[0], ast.Lt | ast.LtE) and (apart := _apart(left)):
        return apart[0], apart[1], "=="
    form = {ast.Eq: "==", ast.Is: "is"}.get(type(test.ops[0]))
    if form is None:
        return None
    if _calls(right, about) and not _calls(left, about):
        left, right = right, left
    identical = isinstance(right, ast.Constant) and (right.value is None or isinstance(right.value, bool))
    return left, right, form if form == "==" or identical else "=="


def _apart(node: ast.expr) -> tuple[ast.expr, ast.expr] | None:
    """`abs(CALL - VALUE)`, which is compared with a tolerance."""
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "abs" and len(node.args) == 1:
        inner = node.args[0]
        if isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Sub):
            return inner.left, inner.right
    return None


def _unapproximated(node: ast.expr) -> ast.expr:
    if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] == "approx" and node.args:
        return node.args[0]
    return node


class _Awaited(ast.NodeTransformer):
    def visit_Await(self, node: ast.Await) -> ast.expr:
        return self.visit(node.value)  # type: ignore[no-any-return]


def _plain(node: ast.expr) -> ast.expr:
    """Without `await`: how a coroutine is run is not the model's business."""
    return _Awaited().visit(node)  # type: ignore[no-any-return]


def _run(call: ast.expr, about: Outline) -> str:
    text = ast.unparse(call)
    return f"asyncio.run({text})" if about.asynchronous else text


def _calls(node: ast.expr, about: Outline) -> bool:
    """Is the function under test used in here?"""
    return bool(uses(node, about))


def uses(node: ast.expr, about: Outline) -> list[ast.expr]:
    """The calls of the function under test, or where an attribute is read."""
    calls = [each for each in ast.walk(node) if isinstance(each, ast.Call)]
    hidden = about.kind == "method" and about.last.startswith("__")
    if about.kind in {"function", "class"} or hidden:
        return [each for each in calls if named(each.func, about.name)]
    if about.kind == "attribute":
        return [each for each in ast.walk(node) if isinstance(each, ast.Attribute) and each.attr == about.last]
    return [each for each in calls if isinstance(each.func, ast.Attribute) and each.func.attr == about.last]


def _fits(node: ast.expr, about: Outline) -> bool:
    """Can the function be called so? What its signature refuses is a mistake of the test's."""
    hidden = about.kind == "method" and about.last.startswith("__")
    if about.arguments is None or about.kind == "attribute" or hidden:
        return True
    for each in uses(node, about):
        assert isinstance(each, ast.Call)
        if any(isinstance(part, ast.Starred) for part in each.args) or not all(part.arg for part in each.keywords):
            continue
        try:
            about.arguments.bind(*each.args, **{part.arg: part.value for part in each.keywords if part.arg})
        except TypeError:
            return False
    return True


def _close(value: ast.expr) -> str:
    """How a value with fractions is compared; empty where it has none or is nested."""
    parts = value.elts if isinstance(value, ast.List | ast.Tuple) else [value]
    if isinstance(value, ast.Dict):
        parts = value.values
    numbers = [each for part in parts for each in ast.walk(part) if isinstance(each, ast.Constant)]
    nested = any(isinstance(part, ast.List | ast.Tuple | ast.Dict | ast.Set) for part in parts)
    text = ast.unparse(value)
    special = re.search(r"\bnan\b|\bmath\.(pi|e|tau|sqrt)\b", text)
    divided = any(isinstance(each, ast.Div) for each in ast.walk(value))
    if nested and parts != [value]:
        return ""
    if isinstance(value, ast.Set) or not (special or divided or any(isinstance(n.value, float) for n in numbers)):
        return ""
    return f"pytest.approx({text}{', nan_ok=True' if 'nan' in text else ''})"
