"""Finding the files that live inside the wall, wherever greenloop was installed from."""

from __future__ import annotations

import ast
import importlib.util
import marshal
import os
import py_compile
from pathlib import Path
from types import CodeType

import pytest

from greenloop_sandbox import payload

REPOSITORY = Path(__file__).resolve().parents[3]


def test_they_are_a_folder_of_the_package():
    assert payload.folder() == REPOSITORY / "sandbox" / "greenloop_sandbox" / "inside"
    assert (payload.folder() / "supervisor.py").is_file()


@pytest.mark.parametrize("name", sorted(payload.sources()))
def test_it_is_written_for_the_oldest_python(name):
    ast.parse(payload.sources()[name], feature_version=(3, 9))


def test_what_goes_inside():
    assert {
        "protocol.py",
        "supervisor.py",
        "plugin.py",
        "doctest_cases.py",
        "function_tracer.py",
        "line_tracer.py",
    } <= set(payload.sources())
    assert {"pytest", "_pytest", "pluggy", "iniconfig"} <= set(payload.borrowed_packages())
    assert payload.protocol() is payload.protocol()


@pytest.fixture
def laid(tmp_path):
    """A folder in place of the sandbox's, with one file in it and one in a room."""
    (tmp_path / "tracing").mkdir()
    (tmp_path / "supervisor.py").write_text("")
    (tmp_path / "worker.py").write_text("class Run:\n    def start(self):\n        return [each for each in 'ab']\n")
    (tmp_path / "tracing" / "gaps.py").write_text("A = 1\n")
    return tmp_path


def unbundled(location: Path) -> dict[str, CodeType]:
    data = payload.bundle.__wrapped__("/inside", location)
    assert data.startswith(importlib.util.MAGIC_NUMBER)
    return marshal.loads(data.removeprefix(importlib.util.MAGIC_NUMBER))


def files_of(code: CodeType) -> set[str]:
    inner = [files_of(each) for each in code.co_consts if isinstance(each, CodeType)]
    return {code.co_filename}.union(*inner)


def test_the_bundle_is_what_compiling_them_inside_would_give(laid):
    assert {name: files_of(code) for name, code in unbundled(laid).items()} == {
        "gaps": {"/inside/gaps.py"},
        "worker": {"/inside/worker.py"},
    }
    assert unbundled(laid)["gaps"] == compile("A = 1\n", "/inside/gaps.py", "exec", dont_inherit=True)


def test_nothing_is_compiled_twice(laid):
    """A source of the same size and time has the bytecode of the one before."""
    file = laid / "tracing" / "gaps.py"
    py_compile.compile(str(file))
    modified = file.stat().st_mtime_ns
    file.write_text("A = 2\n")
    os.utime(file, ns=(modified, modified))
    assert 1 in unbundled(laid)["gaps"].co_consts
