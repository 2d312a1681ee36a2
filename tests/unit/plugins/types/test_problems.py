from __future__ import annotations

import ast

import pytest

from greenloop.plugins.types.checkers import Checker
from greenloop.plugins.types.problems import TypeProblem, check_text

KNOWN = TypeProblem(path="a.py", line=3, text='it\'s "wrong" [misc]')


@pytest.mark.parametrize(
    ("has_paths", "paths", "expected"), [(False, [], ["."]), (False, ["a.py"], ["a.py"]), (True, ["a.py"], [])]
)
def test_the_check_is_told_what_to_run(has_paths, paths, expected):
    checker = Checker(name="pyright", configuration="pyproject.toml", has_paths=has_paths)
    module = ast.parse(check_text(checker, paths, [KNOWN]))
    values = {
        ast.unparse(node.targets[0] if isinstance(node, ast.Assign) else node.target): ast.literal_eval(node.value)
        for node in module.body
        if isinstance(node, ast.Assign | ast.AnnAssign) and not isinstance(node.value, ast.Call)
    }
    assert (values["CHECKER"], values["PATHS"], values["KNOWN"]) == ("pyright", expected, [KNOWN.key])


def test_lines_do_not_tell_errors_apart():
    assert TypeProblem(path="a.py", line=9, text=KNOWN.text).key == KNOWN.key
