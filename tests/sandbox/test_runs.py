"""What honest tests look like through a real bubblewrap."""

from __future__ import annotations

import pytest

from greenloop.core.records.verdict import Status
from greenloop.core.verdict import judge
from greenloop_sandbox import Frame, TestRun
from greenloop_sandbox.report import cases as report
from greenloop_sandbox.report.traces import reached_functions

pytestmark = pytest.mark.needs("bubblewrap")

MODULE = '''"""Sums.

>>> 1 + 1
2
"""
import functools


def add(a, b):
    """Adds.

    >>> add(1, 2)
    3
    >>> x = add(2, 2)
    >>> x
    5
    >>> add(1, None)
    0
    """
    return inner(a, b)


def inner(a, b):
    return a + b


class Box:
    """
    >>> Box().double(2)
    4
    """

    def double(self, n):
        """
        >>> Box().double(1)     # doctest: +ELLIPSIS
        2...
        """
        return 2 * n

    @property
    def size(self):
        """
        >>> Box().size
        1
        """
        return 0
'''

TESTS = """import sys
import unittest

import pytest
from m import Box, add


def test_good():
    assert add(1, 2) == 3


def test_wrong():
    assert add(1, 2) == [4]


@pytest.mark.parametrize("a", [1, 2])
def test_each(a):
    assert 3 == add(a, 1)


def test_raises():
    add(1, None)


class TestBox:
    def test_double(self):
        assert Box().double(2) == 4


class TestUnit(unittest.TestCase):
    def test_sum(self):
        self.assertEqual(add(1, 1), 3)


def test_exit():
    sys.exit(0)


@pytest.mark.skip(reason="later")
def test_skipped():
    pass


@pytest.mark.xfail
def test_expected():
    assert False


@pytest.fixture
def broken():
    raise RuntimeError("no fixture")


def test_broken(broken):
    pass
"""


@pytest.fixture
def sums(tmp_path, lay):
    return lay(tmp_path / "sums", {"m.py": MODULE, "test_m.py": TESTS})


@pytest.mark.story("execution decides")
async def test_every_kind_of_case(sums, opened):
    session = await opened(sums)
    execution = await session.run(TestRun(selectors=("test_m.py",)))
    assert (execution.broken, execution.killed, execution.status) == ("", "", 1)
    results = {result.id.removeprefix("test_m.py::"): result for result in report.case_results(execution)}
    assert {name: result.outcome for name, result in results.items()} == {
        "test_good": "passed",
        "test_wrong": "failed",
        "test_each[1]": "failed",
        "test_each[2]": "passed",
        "test_raises": "failed",
        "TestBox::test_double": "passed",
        "TestUnit::test_sum": "failed",
        "test_exit": "failed",
        "test_skipped": "skipped",
        "test_expected": "xfailed",
        "test_broken": "error",
    }
    wrong = results["test_wrong"].failure
    assert (wrong.type, wrong.expected, wrong.observed) == ("AssertionError", "[4]", "3")
    assert wrong.frames == (Frame(path="test_m.py", line=13, function="test_wrong"),)
    assert "assert 3 == [4]" in wrong.text
    yoda = results["test_each[1]"].failure
    assert (yoda.expected, yoda.observed) == ("3", "2")
    unit = results["TestUnit::test_sum"].failure
    assert (unit.type, unit.expected, unit.observed) == ("AssertionError", "3", "2")
    raised = results["test_raises"].failure
    assert raised.type == "TypeError"
    assert [(frame.path, frame.line) for frame in raised.frames] == [("test_m.py", 22), ("m.py", 20), ("m.py", 24)]
    assert results["test_exit"].failure.type == "SystemExit"
    assert [case.line for case in report.collected_cases(execution)][:2] == [8, 12]


@pytest.mark.story("execution decides")
async def test_doctest_examples_are_cases_in_order(sums, opened):
    session = await opened(sums)
    selectors = ("m.py::add", "m.py::Box", "m.py::Box.double", "m.py::Box.size", "m.py::")
    execution = await session.run(TestRun(selectors=tuple(f"doctest:{selector}" for selector in selectors)))
    results = report.case_results(execution)
    assert [(result.id, result.outcome) for result in results] == [
        ("m.py::add::doctest-1", "passed"),
        ("m.py::add::doctest-2", "passed"),
        ("m.py::add::doctest-3", "failed"),
        ("m.py::add::doctest-4", "failed"),
        ("m.py::Box::doctest-1", "passed"),
        ("m.py::Box.double::doctest-1", "passed"),
        ("m.py::Box.size::doctest-1", "failed"),
        ("m.py::doctest-1", "passed"),
    ]
    lines = MODULE.splitlines()
    assert [lines[case.line - 1].strip()[:12] for case in report.collected_cases(execution)][:4] == [
        ">>> add(1, 2",
        ">>> x = add(",
        ">>> x",
        ">>> add(1, N",
    ]
    third, fourth = results[2].failure, results[3].failure
    assert (third.expected, third.observed, third.frames[-1].line) == ("5", "4", lines.index("    >>> x") + 1)
    assert (fourth.type, fourth.expected) == ("TypeError", "0")
    assert [frame.path for frame in fourth.frames] == ["m.py", "m.py", "m.py"]
    assert "_pytest" not in fourth.text
    everything = [result.id for result in results]
    assert judge(everything[:1], {}, execution).status is Status.PASSED
    assert judge(everything[2:3], {}, execution).status is Status.FAILED


async def test_trace_tells_who_called_whom(sums, opened):
    session = await opened(sums)
    execution = await session.run(TestRun(selectors=("test_m.py::test_good", "test_m.py::TestBox"), trace=True))
    reached = reached_functions(execution)
    good = [(reach.path, reach.name, reach.depth) for reach in reached["test_m.py::test_good"]]
    assert good == [("test_m.py", "test_good", 0), ("m.py", "add", 1), ("m.py", "inner", 2)]
    inner = reached["test_m.py::test_good"][2]
    assert inner.firstlineno == MODULE.splitlines().index("def inner(a, b):") + 1
    assert inner.caller == Frame(path="m.py", line=20, function="add")
    assert {reach.name.rpartition(".")[2] for reach in reached["test_m.py::TestBox::test_double"]} == {
        "test_double",
        "double",
    }


@pytest.mark.story("the workspace is not written")
@pytest.mark.parametrize("writable", [True, False])
async def test_files_are_laid_over_the_workspace(tmp_path, lay, snapshot, opened, writable):
    root = lay(
        tmp_path / "w",
        {
            "pkg/__init__.py": "",
            "pkg/old.py": "VALUE = 'disk'\n",
            "pkg/other.py": "OTHER = 1\n",
            "data/deep/x.txt": "x",
            "test_w.py": (
                "from pathlib import Path\n"
                "from pkg import old, other\n"
                "def test_buffer(): assert old.VALUE == 'buffer'\n"
                "def test_new():\n    from pkg.new import N\n    assert N == other.OTHER\n"
                "def test_package():\n    import fresh.sub.mod as m\n    assert m.M == 2\n"
                "def test_rest(): assert Path('data/deep/x.txt').read_text() == 'x'\n"
            ),
        },
    )
    (root / "link").symlink_to("data")
    before = snapshot(root)
    session = await opened(root, writable=writable)
    files = {
        "pkg/old.py": b"VALUE = 'buffer'\n",
        "pkg/new.py": b"N = 1\n",
        "fresh/__init__.py": b"",
        "fresh/sub/__init__.py": b"",
        "fresh/sub/mod.py": b"M = 2\n",
        "data/deep/y.txt": b"y",
    }
    execution = await session.run(TestRun(selectors=("test_w.py",), files=files))
    assert {result.outcome for result in report.case_results(execution)} == {"passed"}, execution
    assert execution.status == 0
    again = await session.run(TestRun(selectors=("test_w.py::test_buffer",)))
    assert report.case_results(again)[0].failure.observed == "'disk'"
    assert snapshot(root) == before


@pytest.mark.story("the workspace is not written")
async def test_tests_may_write_beside_themselves_and_nothing_stays(tmp_path, lay, opened):
    text = "def test_write():\n    open('out.txt', 'a').write('x')\n    assert open('out.txt').read() == 'x'\n"
    root = lay(tmp_path / "w", {"test_w.py": text})
    session = await opened(root)
    for _ in range(2):
        execution = await session.run(TestRun(selectors=("test_w.py",)))
        assert report.case_results(execution)[0].passed, execution
    assert sorted(path.name for path in root.iterdir()) == ["pytest.ini", "test_w.py"]


async def test_read_only_workspace_says_so(tmp_path, lay, opened):
    root = lay(tmp_path / "w", {"test_w.py": "def test_write():\n    open('out.txt', 'w')\n"})
    session = await opened(root, writable=False)
    execution = await session.run(TestRun(selectors=("test_w.py",)))
    assert "Read-only" in report.case_results(execution)[0].failure.message


async def test_collection_errors_are_told_apart(tmp_path, lay, opened):
    root = lay(
        tmp_path / "w",
        {
            "m.py": "x = 1\n",
            "pkg/__init__.py": "",
            "test_name.py": "from m import slugify\ndef test_a(): pass\n",
            "test_local.py": "import pkg.absent\ndef test_a(): pass\n",
            "test_package.py": "import no_such_distribution\ndef test_a(): pass\n",
            "test_syntax.py": "def test_a(:\n",
            "test_fine.py": "def test_a(): pass\n",
        },
    )
    session = await opened(root)
    execution = await session.run(TestRun(selectors=(".",)))
    errors = {error.id: error for error in report.collect_errors(execution)}
    assert errors["test_name.py"].failure.type == "ImportError"
    assert errors["test_name.py"].missing_name == "m"
    assert errors["test_name.py"].failure.frames[0] == Frame(path="test_name.py", line=1, function="<module>")
    assert (errors["test_local.py"].failure.type, errors["test_local.py"].is_local) == ("ModuleNotFoundError", True)
    assert errors["test_package.py"].missing_name == "no_such_distribution"
    assert not errors["test_package.py"].is_local
    assert errors["test_syntax.py"].failure.type == "SyntaxError"
    assert [case.id for case in report.collected_cases(execution)] == ["test_fine.py::test_a"]
    assert judge(["test_package.py::test_a"], {}, execution).status is Status.NOT_COLLECTED


async def test_a_broken_conftest_is_a_collection_error(tmp_path, lay, opened):
    root = lay(tmp_path / "w", {"conftest.py": "import nothing_here\n", "test_a.py": "def test_a(): pass\n"})
    session = await opened(root)
    execution = await session.run(TestRun(selectors=("test_a.py",)))
    (error,) = report.collect_errors(execution)
    assert (error.id, error.failure.type, error.missing_name) == ("conftest.py", "ModuleNotFoundError", "nothing_here")
    assert judge(["test_a.py::test_a"], {}, execution).status is Status.NOT_COLLECTED


async def test_options_of_the_project_that_would_break_the_report(tmp_path, lay, opened):
    root = lay(
        tmp_path / "w",
        {
            "pytest.ini": (
                "[pytest]\naddopts = -x --ff --strict-markers --junitxml=out/report.xml -v --durations=3\n"
                "doctest_optionflags = NORMALIZE_WHITESPACE FLOAT_CMP\npythonpath = lib\nlog_file = log.txt\n"
            ),
            "lib/m.py": 'def f():\n    """\n    >>> f()\n    [1,   2]\n    """\n    return [1, 2]\n',
            "test_a.py": "from m import f\ndef test_a(): assert 0\ndef test_b(): assert f() == [1, 2]\n",
        },
    )
    session = await opened(root, writable=False)
    execution = await session.run(TestRun(selectors=("test_a.py", "doctest:lib/m.py::f")))
    assert [result.outcome for result in report.case_results(execution)] == ["failed", "passed", "passed"], (
        execution.output
    )


@pytest.mark.parametrize("writable", [True, False])
async def test_odd_paths(tmp_path, lay, opened, writable):
    root = lay(
        tmp_path / "a b#c" / "größe", {"tests/test_ä #1.py": "import sub.m\ndef test_ö(): assert sub.m.v == 'é'\n"}
    )
    session = await opened(root, writable=writable)
    files = {"sub/m.py": "v = 'é'\n".encode()}
    execution = await session.run(TestRun(selectors=("tests/test_ä #1.py::test_ö",), files=files))
    assert [(result.id, result.outcome) for result in report.case_results(execution)] == [
        ("tests/test_ä #1.py::test_ö", "passed")
    ]


async def test_src_layout_and_relative_imports_of_a_doctest(tmp_path, lay, opened):
    module = "from .b import B\ndef f():\n    '''\n    >>> f()\n    2\n    '''\n    return B\n"
    root = lay(tmp_path / "w", {"src/p/__init__.py": "", "src/p/a.py": module, "src/p/b.py": "B = 2\n"})
    session = await opened(root)
    execution = await session.run(TestRun(selectors=("doctest:src/p/a.py::f",)))
    assert [(result.id, result.outcome) for result in report.case_results(execution)] == [
        ("src/p/a.py::f::doctest-1", "passed")
    ]
