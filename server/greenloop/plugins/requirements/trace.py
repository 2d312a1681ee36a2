"""Reads recorded behaviour: calls that must return, raise or print the same again.

The setting `spec.trace` names a file of the workspace with one JSON object a line; docs/specs.md describes it.
The file is only read; the code in it runs in the sandbox only.
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

from greenloop.core.errors import SettingsError
from greenloop.core.generated_tests import Check, build_test_file
from greenloop.core.python.ast_source import UNPARSABLE, parse_module, plain_name, region_definition
from greenloop.core.python.names import free_names, module_bindings
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Provenance, Region, Spec
from greenloop.core.requirements import Requirement, Start
from greenloop.core.text.diff import with_plain_ends
from greenloop.plugins.function_calls.literals import CONSTRUCTORS
from greenloop.project import sources

MOST = 300  # recorded calls of one function; the rest are counted
SHOWN = 8  # recorded calls that are shown to a model before it starts
LONGEST = 200  # characters of one of them
KEYS = frozenset({"function", "call", "args", "kwargs", "returns", "raises", "stdout", "imports"})
_CONSTRUCTORS = {
    **CONSTRUCTORS,
    "defaultdict": "from collections import defaultdict",
    "PosixPath": "from pathlib import PosixPath",
    "nan": "from math import nan",
    "inf": "from math import inf",
}
_DOTTED = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")


@dataclass(frozen=True, kw_only=True)
class _RecordedFunction:
    """The recorded function: its region, the names of its module, and how the module is imported."""

    region: Region
    module: str
    names: frozenset[str]
    line: int
    is_async: bool

    @property
    def name(self) -> str:
        return plain_name(self.region.qualname)

    def is_meant_by(self, function: str) -> bool:
        """Does a line mean this function by `f`, `m.f`, `pkg.m.f` or `pkg/m.py::f`?"""
        full_name = f"{self.region.path.removesuffix('.py')}.{self.name}".replace("/", ".")
        dotted = function.replace(".py::", ".").replace("::", ".").replace("/", ".")
        return full_name == dotted or full_name.endswith(f".{dotted}")


class _BadLineError(ValueError):
    """The reason why a line cannot be read."""


async def begin(start: Start) -> Requirement:
    """A case for each recorded call of the region. Raises `SettingsError` naming the file and the line."""
    spec = _collect(start.problem, str(start.tools.options.get("spec.trace", "")))
    calls = [case.source for case in spec.cases if len(case.source) <= LONGEST][:SHOWN]
    said = "\n".join(["This was recorded and must hold:", *calls]) if calls else ""
    return Requirement(name="trace", spec=spec, instruction=said)


def _collect(problem: Problem, path: str) -> Spec:
    text = sources.read_text(problem.root, path, problem.buffers)
    if text is None:
        raise SettingsError(
            f"`spec.trace` names {path}, which is not a file of this workspace.",
            remedy="Name a JSONL file by its path from the workspace's root.",
        )
    recorded = _recorded_function(problem)
    checks = []
    for number, row in enumerate(with_plain_ends(text).split("\n"), 1):
        if not row.strip():
            continue
        try:
            check = _check(row, recorded)
        except _BadLineError as error:
            raise SettingsError(
                f"{path}, line {number}: {error}.",
                remedy='A line is such as {"function": "m.f", "args": [1], "returns": 2}; see docs/specs.md.',
            ) from error
        checks += [check] if check else []
    spec = build_test_file(recorded.region, recorded.module, "trace", checks[:MOST])
    if len(checks) > MOST:
        return spec + Spec(doubts=(f"Only the first {MOST} of {len(checks)} recorded calls are used.",))
    return spec if checks else Spec(doubts=(f"{path} has no recorded call of {recorded.name}.",))


def _recorded_function(problem: Problem) -> _RecordedFunction:
    region = problem.regions[0]
    text = with_plain_ends(problem.files[region.path])
    node, offset = region_definition(text, region.start, region.end) or (None, 0)
    return _RecordedFunction(
        region=region,
        module=sources.import_name_in_tests(region.path, problem.root),
        names=frozenset(module_bindings(text)),
        line=offset + node.lineno if node else region.start,
        is_async=isinstance(node, ast.AsyncFunctionDef),
    )


def _check(row: str, target: _RecordedFunction) -> Check | None:
    """The test for one line; None where it is about another function."""
    record = _parse_object(row)
    function = _text(record, "function")
    if function and not target.is_meant_by(function):
        return None
    call = _call_source(record, target)
    if call is None:
        return None
    if unknown_keys := sorted(set(record) - KEYS):
        raise _BadLineError(f"there is no key `{unknown_keys[0]}`; the keys are {', '.join(sorted(KEYS))}")
    if "raises" in record and "returns" in record:
        raise _BadLineError("a call cannot both return and raise")
    if not record.keys() & {"returns", "raises", "stdout"}:
        raise _BadLineError("it needs one of the keys `returns`, `raises` and `stdout`")
    return _statement_and_imports(record, call, target)


def _statement_and_imports(record: Mapping[str, Any], call: str, target: _RecordedFunction) -> Check:
    run_call = f"asyncio.run({call})" if target.is_async else call
    imports = [*_imports(record), *(["import asyncio"] if target.is_async else [])]
    rows, shown, needed = [run_call], "", call
    if "returns" in record:
        value = _source(record["returns"])
        needed += f", {value}"
        # NaN does not equal itself; its repr does.
        is_nan = "nan" in free_names(value)
        rows = [f"assert repr({run_call}) == repr({value})" if is_nan else f"assert {run_call} == {value}"]
        shown = f"assert {call} == {value}"
    elif "raises" in record:
        error = _text(record, "raises", "the name of an exception")
        if not _DOTTED.fullmatch(error):
            raise _BadLineError("`raises` must be the name of an exception")
        needed += f", {error}"
        imports.append("import pytest")
        rows, shown = [f"with pytest.raises({error}):", f"    {run_call}"], f"with pytest.raises({error}): {call}"
    if "stdout" in record:
        printed = _text(record, "stdout")
        rows.append(f"assert capsys.readouterr().out == {printed!r}")
        shown = shown or f"{call} prints {printed!r}"
    module_names, other_imports = _needed_names(needed, target, imports)
    return Check(
        body="\n".join([*([f"from {target.module} import {', '.join(module_names)}"] if module_names else []), *rows]),
        line=target.line,
        provenance=Provenance.TRACE,
        shown=shown,
        imports=tuple(dict.fromkeys([*imports, *other_imports])),
        parameters="capsys" if "stdout" in record else "",
    )


def _parse_object(row: str) -> dict[str, Any]:
    try:
        record = json.loads(row)
    except (ValueError, RecursionError) as error:
        raise _BadLineError(f"it is not valid JSON ({str(error) or 'too deep'})") from error
    if not isinstance(record, dict):
        raise _BadLineError("it is not a JSON object")
    return record


def _call_source(record: Mapping[str, Any], target: _RecordedFunction) -> str | None:
    """The recorded call as source; None where it calls another function."""
    if "call" in record:
        if {"args", "kwargs"} & record.keys():
            raise _BadLineError("`call` already contains the arguments")
        call = _expression(record, "call")
        node = ast.parse(call, mode="eval").body
        if not isinstance(node, ast.Call):
            raise _BadLineError(f"`{call}` is not a call")
        return call if ast.unparse(node.func).rpartition(".")[2] == target.name.rpartition(".")[2] else None
    args, kwargs = record.get("args", []), record.get("kwargs", {})
    if not isinstance(args, list) or not isinstance(kwargs, dict):
        raise _BadLineError("`args` must be a list and `kwargs` an object")
    arguments = [_source(each) for each in args]
    are_names = all(map(str.isidentifier, kwargs))
    arguments += (
        [f"{name}={_source(value)}" for name, value in kwargs.items()] if are_names else [f"**{_source(kwargs)}"]
    )
    return f"{target.name}({', '.join(arguments)})"


def _source(value: Any) -> str:
    """A JSON value as Python source; `{"repr": "..."}` is Python already."""
    try:
        return _literal(value)
    except RecursionError as error:
        raise _BadLineError("a value nests too deep") from error


def _literal(value: Any) -> str:
    if isinstance(value, dict):
        if value.keys() == {"repr"}:
            return _expression(value, "repr")
        return "{" + ", ".join(f"{key!r}: {_literal(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_literal, value)) + "]"
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    return repr(value)


def _text(record: Mapping[str, Any], key: str, meaning: str = "a string") -> str:
    value = record.get(key, "")
    if not isinstance(value, str):
        raise _BadLineError(f"`{key}` must be {meaning}")
    return value


def _expression(record: Mapping[str, Any], key: str) -> str:
    """One Python expression in one line; calls and names are allowed, since it runs in the sandbox."""
    text = _text(record, key)
    try:
        return ast.unparse(ast.parse(text.strip(), mode="eval"))
    except UNPARSABLE as error:
        raise _BadLineError(f"`{key}` holds {text[:60]!r}, which is not a Python expression") from error


def _imports(record: Mapping[str, Any]) -> list[str]:
    statements = record.get("imports", [])
    if not isinstance(statements, list) or not all(isinstance(each, str) and _is_import(each) for each in statements):
        raise _BadLineError('`imports` must be a list of import statements, such as ["from decimal import Decimal"]')
    return statements


def _is_import(text: str) -> bool:
    module = parse_module(text)
    return isinstance(module, ast.Module) and all(isinstance(each, ast.Import | ast.ImportFrom) for each in module.body)


def _needed_names(expression: str, target: _RecordedFunction, imports: list[str]) -> tuple[list[str], list[str]]:
    """(names of the module, imports) that an expression needs in addition to the line's own imports."""
    known_names = set(module_bindings("\n".join(imports))) | set(dir(builtins)) | {target.name.partition(".")[0]}
    module_names, other_imports = [], []
    for name in sorted(free_names(expression) - known_names):
        if name in target.names:
            module_names.append(name)
        elif name in sys.stdlib_module_names:
            other_imports.append(f"import {name}")
        elif name in _CONSTRUCTORS:
            other_imports.append(_CONSTRUCTORS[name])
        else:
            raise _BadLineError(f'nothing imports `{name}`; add "imports": ["from … import {name}"]')
    return module_names, other_imports
