"""Statements that import, with other names."""

from __future__ import annotations

import ast

import pytest

from greenloop.project.missing_imports import with_names


@pytest.mark.parametrize(
    ("statement", "right", "removed", "expected"),
    [
        ("from m import é, old as o  # why", {"old": "new"}, (), "from m import é, new as o  # why\n"),
        ("from m import a, b  # why", {}, ("a",), "from m import b  # why\n"),
        ("from m import (\n    a,  # one\n    b,\n)", {"b": "c"}, (), "from m import (\n    a,  # one\n    c,\n)\n"),
        ("from m import (\n    a,\n    b,  # two\n)", {}, ("a",), "from m import (\n    b,  # two\n)\n"),
        ("from . import a, b", {"b": "c"}, ("a",), "from . import c\n"),
        ("import a", {}, ("a",), ""),
    ],
)
def test_names_are_written_otherwise_and_left_out(statement, right, removed, expected):
    node = ast.parse(statement).body[0]
    aliases = [(each, right[each.name]) for each in node.names if each.name in right]
    gone = [each for each in node.names if each.name in removed]
    assert with_names(statement.split("\n"), node, aliases, gone) == expected
