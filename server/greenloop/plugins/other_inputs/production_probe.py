"""Calls functions as production would: after many other calls, and in a process that no test run looks like.

Its text runs in the sandbox, below that of `call_probe`. Standard library on Python 3.9; of greenloop it must not
import anything else.
"""

from __future__ import annotations

import ast
import contextlib
import importlib.machinery
import json
import logging
import os
import sys
import tempfile
import time
import types
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from greenloop.plugins.other_inputs.call_probe import RAN, load_function, observe_call, shorten

MANY_CALLS = 400
MANY_SECONDS = 0.5  # of processor time for these
MANY_PROCESSES = 1_000_000  # were started before this one
LATER = 86_400.0  # seconds of processor time that a process of some days has used
_CLOCKS = ("process_time", "thread_time")


def run_as_in_production(functions: Sequence[Sequence[Any]], inputs: str) -> None:
    """Writes lines of a condition, the number of an input, and what the call does under the condition.

    `again` is a module that is imported anew, nothing else; what differs there depends on what was done before.
    """
    rows = json.loads(inputs)
    root = Path.cwd()
    sys.path[:] = [str(Path(entry).absolute()) for entry in sys.path]
    found = [load_function(each[0], each[1], each[3]) for each in functions]
    _write("first", found, rows)
    began = time.process_time()
    for number in range(MANY_CALLS):
        if rows and time.process_time() - began < MANY_SECONDS:
            index, positional, named = rows[number % len(rows)]
            observe_call(found[index], positional, named)
    _write("calls", found, rows)
    _write("again", _import_anew(functions, root), rows)
    with _production(root):
        _write("production", _import_anew(functions, root), rows)


def _write(condition: str, found: Sequence[Any], rows: Sequence[Any]) -> None:
    for place, (number, positional, named) in enumerate(rows):
        if found[number] is not None:
            RAN.append(json.dumps([condition, place, *shorten(observe_call(found[number], positional, named))]))


def _import_anew(functions: Sequence[Sequence[Any]], root: Path) -> list[Any]:
    """The functions, of modules of the project that are imported again."""
    for name, module in [*sys.modules.items()]:
        file = Path(getattr(module, "__file__", None) or "/")
        if root in file.parents and name != __name__ and file.name != "conftest.py":
            del sys.modules[name]
    return [load_function(each[0], each[1], each[3]) for each in functions]


@contextlib.contextmanager
def _production(root: Path) -> Iterator[None]:
    """A working folder without tests or pytest, a process of some days with a high number, and `__debug__` false.

    It has the flags and the filters of warnings of an interpreter without options, and no handlers of logs.
    """
    folder = Path(tempfile.mkdtemp())
    for entry in root.iterdir():
        if "test" not in entry.name:
            (folder / entry.name).symlink_to(entry)
    kept, number = importlib.machinery.SourceFileLoader.get_code, os.getpid
    clocks = {name: getattr(time, name) for name in _CLOCKS}

    def get_code(self: Any, fullname: str) -> Any:
        path = self.get_filename(fullname)
        if root not in Path(path).parents:
            return kept(self, fullname)
        return compile(_WithoutDebug().visit(ast.parse(self.get_data(path), path)), path, "exec", dont_inherit=True)

    options = dict.fromkeys((name for name in dir(sys.flags) if isinstance(getattr(sys.flags, name), int)), 0)
    replacements: Sequence[tuple[Any, str, Any]] = (
        (importlib.machinery.SourceFileLoader, "get_code", get_code),
        *((time, name, lambda clock=clock: clock() + LATER) for name, clock in clocks.items()),
        (os, "getpid", lambda: number() + MANY_PROCESSES),
        (sys, "flags", types.SimpleNamespace(**{**options, "hash_randomization": 1})),
        (sys, "dont_write_bytecode", False),
        (logging.getLogger(), "handlers", []),
    )
    with contextlib.ExitStack() as after, warnings.catch_warnings():
        for owner, name, value in replacements:
            after.callback(setattr, owner, name, getattr(owner, name))
            setattr(owner, name, value)
        warnings.resetwarnings()
        for category in (ResourceWarning, ImportWarning, PendingDeprecationWarning, DeprecationWarning):
            warnings.simplefilter("ignore", category)
        warnings.filterwarnings("default", category=DeprecationWarning, module="__main__")
        of_tests = [name for name in sys.modules if name.partition(".")[0] in ("pytest", "_pytest")]
        after.callback(sys.modules.update, {name: sys.modules.pop(name) for name in of_tests})
        after.callback(os.chdir, root)
        os.chdir(folder)
        yield


class _WithoutDebug(ast.NodeTransformer):
    """`python -O` but for `assert`, which honest code may rely on."""

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.copy_location(ast.Constant(False), node) if node.id == "__debug__" else node
