"""Recorded behaviour: calls with what they returned, raised or printed, which must give the same again.

The setting `spec.trace` names a file of the workspace with a JSON object a line; docs/specs.md describes it.
The file is read, never run; what is written in it runs in the sandbox only.
"""

from __future__ import annotations

import ast
import builtins
import json
import math
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from greenloop import sources
from greenloop.core.diff import flat
from greenloop.core.errors import SettingsProblem
from greenloop.core.names import bindings, free_names
from greenloop.core.nouns import Problem, Provenance, Region, Spec
from greenloop.core.ports import Tools
from greenloop.core.sheet import Check, sheet
from greenloop.core.source import FUNCTIONS, definitions, plain_name, tree
from greenloop.core.subject import name_line

MOST = 300  # recorded calls of one function; the rest are counted
KEYS = frozenset({"function", "call", "args", "kwargs", "returns", "raises", "stdout", "imports"})
_MAKERS = {
    "Decimal": "decimal", "Fraction": "fractions", "OrderedDict": "collections", "defaultdict": "collections",
    "deque": "collections", "Counter": "collections", "PosixPath": "pathlib", "PurePosixPath": "pathlib",
    "UUID": "uuid",
}  # fmt: skip
_DOTTED = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")


@dataclass(frozen=True, kw_only=True)
class _About:
    """The function that is recorded: its region, the names of its module, and how that is imported."""

    region: Region
    module: str
    names: frozenset[str]
    line: int
    is_async: bool

    @property
    def name(self) -> str:
        return plain_name(self.region.qualname)

    def meant(self, function: str) -> bool:
        """Is it the one that a line names: `f`, `m.f`, `pkg.m.f`, `pkg/m.py::f`?"""
        full = f"{self.region.path.removesuffix('.py')}.{self.name}".replace("/", ".")
        wanted = function.replace(".py::", ".").replace("::", ".").replace("/", ".")
        return full == wanted or full.endswith(f".{wanted}")


class _Bad(ValueError):
    """Why a line cannot be read."""


async def collect(problem: Problem, tools: Tools) -> Spec:
    """A case for each recorded call of the region. Raises `SettingsProblem` naming the file and the line."""
    path = str(tools.options.get("trace", ""))
    if not path:
        return Spec()
    text = sources.text(problem.root, path, problem.buffers)
    if text is None:
        raise SettingsProblem(
            f"`spec.trace` names {path}, which is no file of this workspace.",
            remedy="Name a JSONL file by its path from the workspace's root.",
        )
    about = _about(problem)
    checks = []
    for number, row in enumerate(flat(text).split("\n"), 1):
        if not row.strip():
            continue
        try:
            check = _check(row, about)
        except _Bad as error:
            raise SettingsProblem(
                f"{path}, line {number}: {error}.",
                remedy='A line is such as {"function": "m.f", "args": [1], "returns": 2}; see docs/specs.md.',
            ) from error
        checks += [check] if check else []
    spec = sheet(about.region, about.module, "trace", checks[:MOST])
    if len(checks) > MOST:
        return spec + Spec(doubts=(f"Of {len(checks)} recorded calls the first {MOST} are used.",))
    return spec if checks else Spec(doubts=(f"{path} has no recorded call of {about.name}.",))


def _about(problem: Problem) -> _About:
    region = problem.regions[0]
    text = flat(problem.files[region.path])
    module = tree(text)
    nodes = [] if isinstance(module, SyntaxError) else list(definitions(module.body))
    line = name_line(problem, region)
    own = next((node for _name, node in nodes if node.lineno == line), None)
    return _About(
        region=region,
        module=sources.imported_as(region.path, problem.root),
        names=frozenset(bindings(text)),
        line=line,
        is_async=isinstance(own, FUNCTIONS) and isinstance(own, ast.AsyncFunctionDef),
    )


def _check(row: str, about: _About) -> Check | None:
    """The test that a line makes; None for one of another function."""
    told = _object(row)
    function = told.get("function", "")
    if not isinstance(function, str):
        raise _Bad("`function` must be a text")
    if function and not about.meant(function):
        return None
    call = _call(told, about)
    if call is None:
        return None
    if unknown := sorted(set(told) - KEYS):
        raise _Bad(f"there is no key `{unknown[0]}`; the keys are {', '.join(sorted(KEYS))}")
    if "raises" in told and "returns" in told:
        raise _Bad("a call cannot both return and raise")
    if not told.keys() & {"returns", "raises", "stdout"}:
        raise _Bad("it says neither what the call `returns` nor what it `raises` nor its `stdout`")
    return _written(told, call, about)


def _written(told: Mapping[str, Any], call: str, about: _About) -> Check:
    asked = f"asyncio.run({call})" if about.is_async else call
    imports = [*_imports(told), *(["import asyncio"] if about.is_async else [])]
    rows, shown, used = [asked], "", call
    if "returns" in told:
        value = _source(told["returns"])
        used += f", {value}"
        # NaN is equal to nothing, not even to itself; as a text it is.
        rows = [
            f"assert repr({asked}) == repr({value})" if "nan" in free_names(value) else f"assert {asked} == {value}"
        ]
        shown = f"assert {call} == {value}"
    elif "raises" in told:
        error = told["raises"]
        if not isinstance(error, str) or not _DOTTED.fullmatch(error):
            raise _Bad("`raises` must be the name of an exception")
        used += f", {error}"
        imports.append("import pytest")
        rows, shown = [f"with pytest.raises({error}):", f"    {asked}"], f"with pytest.raises({error}): {call}"
    if "stdout" in told:
        if not isinstance(told["stdout"], str):
            raise _Bad("`stdout` must be a text")
        rows.append(f"assert capsys.readouterr().out == {told['stdout']!r}")
        shown = shown or f"{call} prints {told['stdout']!r}"
    own, others = _needed(used, about, imports)
    return Check(
        body="\n".join([*([f"from {about.module} import {', '.join(own)}"] if own else []), *rows]),
        line=about.line,
        provenance=Provenance.TRACE,
        shown=shown,
        imports=tuple(dict.fromkeys([*imports, *others])),
        parameters="capsys" if "stdout" in told else "",
    )


def _object(row: str) -> dict[str, Any]:
    try:
        told = json.loads(row)
    except (ValueError, RecursionError) as error:
        raise _Bad(f"it is no JSON ({str(error) or 'too deep'})") from error
    if not isinstance(told, dict):
        raise _Bad("it is no JSON object")
    return told


def _call(told: Mapping[str, Any], about: _About) -> str | None:
    """The recorded call as source; None where it names another function."""
    if "call" in told:
        if {"args", "kwargs"} & told.keys():
            raise _Bad("`call` says the arguments already")
        call = _expression(told["call"], "call")
        node = ast.parse(call, mode="eval").body
        if not isinstance(node, ast.Call):
            raise _Bad(f"`{call}` is no call")
        return call if ast.unparse(node.func).rpartition(".")[2] == about.name.rpartition(".")[2] else None
    args, kwargs = told.get("args", []), told.get("kwargs", {})
    if not isinstance(args, list) or not isinstance(kwargs, dict):
        raise _Bad("`args` must be a list and `kwargs` an object")
    words = [_source(each) for each in args]
    if all(name.isidentifier() for name in kwargs):
        words += [f"{name}={_source(value)}" for name, value in kwargs.items()]
    else:
        words.append(f"**{_source(kwargs)}")
    return f"{about.name}({', '.join(words)})"


def _source(value: Any) -> str:
    """A JSON value as Python writes it; `{"repr": "..."}` is Python already."""
    try:
        return _literal(value)
    except RecursionError as error:
        raise _Bad("a value nests too deep") from error


def _literal(value: Any) -> str:
    if isinstance(value, dict):
        if value.keys() == {"repr"}:
            return _expression(value["repr"], "repr")
        return "{" + ", ".join(f"{key!r}: {_literal(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_literal, value)) + "]"
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    return repr(value)


def _expression(text: object, key: str) -> str:
    """One Python expression in one line, calls and names included: it runs behind the wall."""
    try:
        return ast.unparse(ast.parse(text.strip(), mode="eval")) if isinstance(text, str) else _no_text(key)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        if isinstance(error, _Bad):
            raise
        raise _Bad(f"`{key}` holds {str(text)[:60]!r}, which is no Python expression") from error


def _no_text(key: str) -> str:
    raise _Bad(f"`{key}` must be a text")


def _imports(told: Mapping[str, Any]) -> list[str]:
    found = told.get("imports", [])
    if not isinstance(found, list) or not all(isinstance(each, str) and _is_import(each) for each in found):
        raise _Bad('`imports` must be a list of import statements, such as ["from decimal import Decimal"]')
    return found


def _is_import(text: str) -> bool:
    module = tree(text)
    return isinstance(module, ast.Module) and all(isinstance(each, ast.Import | ast.ImportFrom) for each in module.body)


def _needed(used: str, about: _About, imports: list[str]) -> tuple[list[str], list[str]]:
    """(names of the module, imports) that an expression needs beside what the line imports itself."""
    known = set(bindings("\n".join(imports))) | set(dir(builtins)) | {about.name.partition(".")[0]}
    own, others = [], []
    for name in sorted(free_names(used) - known):
        if name in about.names:
            own.append(name)
        elif name in ("nan", "inf"):
            others.append(f"from math import {name}")
        elif name in _MAKERS:
            others.append(f"from {_MAKERS[name]} import {name}")
        elif name in sys.stdlib_module_names:
            others.append(f"import {name}")
        else:
            raise _Bad(f'nothing imports `{name}`; add "imports": ["from … import {name}"]')
    return own, others
