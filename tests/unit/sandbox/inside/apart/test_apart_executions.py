"""A test that runs what the code hands over is noticed by the judge's process, and one that runs its own is not."""

from __future__ import annotations

import ast
import io
import pickle
import sys
import types
from unittest import mock

import pytest

from two_sides import apart, request

executions = apart["apart_executions"]
RULES = apart["apart_rules"].Rules(True, request())
# A hook cannot be taken away again, so all tests have one.
CURRENT: list[types.SimpleNamespace] = []
executions.Executions(lambda: CURRENT[-1] if CURRENT else None)
REASON = "the test runs what the code hands over (%s)"
SOURCE = "value = [1, 2, 3]\n"


@pytest.fixture
def doubts():
    """The reasons that are given while a text, and a file, of the code are known."""
    found: list[str] = []
    CURRENT.append(
        types.SimpleNamespace(said=[([SOURCE, "/bin/true"], {}, None)], written=set(), rules=RULES, doubt=found.append)
    )
    yield found
    CURRENT.pop()


def test_a_text_of_the_code_that_runs_is_noticed(doubts):
    exec(SOURCE, {})
    assert doubts == [REASON % "compile"]


def test_a_tree_of_such_a_text_is_noticed(doubts):
    tree = ast.parse(SOURCE)
    assert not doubts
    exec(compile(tree, "made", "exec"), {})
    assert len(doubts) == 1


@pytest.mark.parametrize(("text", "mode", "count"), [("f(1)", "eval", 1), ("f(1)", "single", 1), ("[1, 2]", "eval", 0)])
def test_a_tree_of_an_expression_is_noticed_unless_it_only_makes_values(text, mode, count, doubts):
    CURRENT[-1].said = [([text], {}, None)]
    eval(compile(ast.parse(text, mode=mode), "made", mode), {"f": abs})
    assert len(doubts) == count


def test_a_large_module_is_not_compared_statement_by_statement(doubts, monkeypatch):
    """A plugin of pytest that is imported while the code has said much: each of its modules is compiled."""
    module = ast.parse("\n".join(f"name{number} = {number}" for number in range(100)))
    CURRENT[-1].said = [([f"name{number} = {number}" for number in range(200)], {}, None)]
    dumped = []
    monkeypatch.setattr(ast, "dump", lambda tree: dumped.append(tree) or "")
    compile(module, "nowhere.py", "exec")
    assert (dumped, doubts) == ([], [])


def test_a_longer_text_with_it_is_noticed(doubts):
    exec("import sys\n" + SOURCE + "sys.x = value\n", {})
    assert len(doubts) == 1


@pytest.mark.parametrize("text", ["other = [1, 2]\n", "[1, {'a': -2}, (None,)]"])
def test_a_text_of_the_test_is_not_noticed(text, doubts):
    exec(text, {})
    assert not doubts


def test_a_text_that_only_makes_values_is_not_noticed(doubts):
    CURRENT[-1].said = [(["Decimal('1.5')", "ANY", "wanted"], {}, None)]
    from decimal import Decimal

    eval("Decimal('1.5')", {"Decimal": Decimal})
    assert not doubts
    eval("ANY", {"ANY": mock.ANY})
    eval("wanted", {"wanted": 3})
    assert len(doubts) == 2


def test_an_imported_file_of_the_code_is_noticed(doubts, tmp_path, monkeypatch):
    for name in ("written_by_code", "written_by_test"):
        (tmp_path / f"{name}.py").write_text("x = 1\n")
    CURRENT[-1].written.add(str(tmp_path / "written_by_code.py"))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    __import__("written_by_test")
    assert not doubts
    (tmp_path / "written_by_code.py").read_text()
    assert not doubts
    __import__("written_by_code")
    assert doubts == [REASON % "open"]


def test_a_pickle_names_only_what_may_cross(doubts):
    pickle.loads(pickle.dumps({"a": [1, complex(1, 2)]}))
    assert not doubts
    pickle.loads(b"cunittest.mock\nANY\n.")
    assert doubts == [REASON % "pickle.find_class"]


def test_a_program_with_words_of_the_code_is_noticed(doubts):
    starts = executions.CHECKS["subprocess.Popen"]
    assert not starts(CURRENT[-1], sys.executable, [sys.executable, "-c", ""], None, None)
    assert starts(CURRENT[-1], "sh", ["sh", "/bin/true"], None, None)
    assert not doubts


def test_nothing_is_noticed_before_the_code_has_said_anything(doubts):
    CURRENT[-1].said = []
    pickle.load(io.BytesIO(b"cunittest.mock\nANY\n."))
    assert not doubts
