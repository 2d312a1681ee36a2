"""Checks become one test file; equations are read out of tests and written into them."""

from __future__ import annotations

import ast

import pytest

from greenloop.core.generated_tests import (
    Check,
    Equation,
    build_test_file,
    equation_test,
    generated_path,
    parse_equation,
)
from greenloop.core.records.spec import Provenance, Region, Spec

REGION = Region(path="src/pkg/my-mod.py", qualname="Box.area", start=3, end=9)


def check(body: str, **more) -> Check:
    return Check(body=body, line=4, provenance=Provenance.DESIGNED, **more)


def test_the_sheet_lies_beside_the_module_and_each_test_imports_for_itself():
    spec = build_test_file(
        REGION, "pkg.mod", "designed", [check("assert Box().area() == 1"), check("x = Box()\n\nassert x", shown="box")]
    )
    assert list(spec.files) == ["src/pkg/test_greenloop_designed_my_mod.py"] == [generated_path(REGION, "designed")]
    tests = [
        node
        for node in ast.parse(spec.files[generated_path(REGION, "designed")]).body
        if isinstance(node, ast.FunctionDef)
    ]
    assert [test.name for test in tests] == ["test_designed_1", "test_designed_2"]
    assert [ast.unparse(test.body[0]) for test in tests] == ["from pkg.mod import Box"] * 2
    assert [case.source for case in spec.cases] == ["assert Box().area() == 1", "box"]
    assert {(case.path, case.line) for case in spec.cases} == {("src/pkg/my-mod.py", 4)}
    assert spec.selectors == tuple(case.id for case in spec.cases)


def test_imports_and_decorators_stand_where_python_wants_them():
    one = check("assert f(n)", imports=("import math", "import pytest"), decorators=("given(n=1)",), parameters="n")
    text = build_test_file(REGION, "m", "property", [one, check("assert f(1)", imports=("import pytest",))]).files[
        generated_path(REGION, "property")
    ]
    assert text.startswith(
        "import math\nimport pytest\n\n\n@given(n=1)\ndef test_property_1(n):\n    from m import Box\n"
    )
    assert text.count("import pytest") == 1


def test_no_checks_no_file():
    assert build_test_file(REGION, "m", "designed", []) == Spec()


@pytest.mark.parametrize(
    ("source", "known"),
    [
        ("assert f(1) == [1]", Equation(call="f(1)", expected="[1]")),
        ("assert [1] == f(1)", Equation(call="f(1)", expected="[1]")),
        ("assert f(1) is None", Equation(call="f(1)", expected="None")),
        ("assert f(1)", Equation(call="f(1)", expected="True")),
        ("assert not f(1)", Equation(call="f(1)", expected="False")),
        ("assert C(2).m(1) == -1", Equation(call="C(2).m(1)", expected="-1")),
        ("assert f(.1) == pytest.approx(.3)", Equation(call="f(0.1)", expected="0.3")),
        ("with pytest.raises(ValueError): f(1)", Equation(call="f(1)", raises="ValueError")),
        ("with open(f(1)): g()", None),
        ("assert f(1) < 3", None),
        ("assert 1 == 1", None),
        ("f(1)", None),
        ("x = 1\nassert f(x) == 1", None),
        ("assert f(", None),
        ("assert " + "(" * 500 + "f(1)" + ")" * 500, None),
    ],
)
def test_equations_are_read(source, known):
    assert parse_equation(source) == known


@pytest.mark.parametrize(
    "known",
    [
        Equation(call="f(1)", expected="[1]"),
        Equation(call="f(1)", expected="0.5"),
        Equation(call="f(1)", raises="ValueError"),
    ],
)
def test_what_is_stated_is_read_again(known):
    body, imports = equation_test(known)
    assert parse_equation(body) == known
    assert ("pytest" in body) is bool(imports)
