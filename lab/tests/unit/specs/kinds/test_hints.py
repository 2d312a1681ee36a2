"""Type hints as light tests."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Case, Provenance, Region, Spec
from greenloop_lab.specs.kinds import hints


def spec(text: str) -> Spec:
    return hints.build_spec(Region(path="m.py", qualname="f", start=1, end=text.count("\n")), text, "m")


SHOWN = 'def f(xs: list[int]) -> list[int]:\n    """Sort.\n\n    >>> f([2, 1])\n    [1, 2]\n    """\n'


def failing(spec: Spec, function) -> list[str]:
    """Names of the tests that fail for a function, run without any sandbox."""
    (text,) = spec.files.values()
    space: dict = {}
    exec(text.replace("from m import f", "pass"), space)
    space["f"] = function
    failed = []
    for case in spec.cases:
        name = case.id.partition("::")[2]
        try:
            space[name]()
        except (AssertionError, NotImplementedError):
            failed.append(name)
    return failed


def test_what_the_docstrings_calls_give_is_of_the_annotated_type():
    found = spec(SHOWN)
    assert [(case.source, case.provenance, case.binding) for case in found.cases] == [
        ("f([2, 1]) gives list[int]", Provenance.HINT, True)
    ]
    assert failing(found, sorted) == []
    assert failing(found, tuple) == ["test_hint_1"]
    assert failing(found, lambda xs: ["1"]) == ["test_hint_1"]


def test_which_input_is_allowed_others_say_but_what_is_not_written_fails():
    def refuses(xs):
        raise ValueError

    def unwritten(xs):
        raise NotImplementedError

    assert failing(spec(SHOWN), refuses) == []
    assert failing(spec(SHOWN), unwritten) == ["test_hint_1"]


@pytest.mark.parametrize(
    ("signature", "call"),
    [
        ("f(n: int, s: str = '') -> str", "f(1)"),
        ("f(xs: list[tuple[int, str]], *, key: bool) -> int", "f([(1, 'ab'), (1, 'ab')], key=True)"),
        ("f(d: dict[str, list[float]]) -> int", "f({'ab': [1.5, 1.5]})"),
        ("f(x: Optional[bytes]) -> int", "f(b'ab')"),
    ],
)
def test_without_a_call_in_the_docstring_one_is_made_up(signature, call):
    (case,) = spec(f'def {signature}:\n    """Do."""\n').cases
    assert case.source.startswith(call + " gives ")


@pytest.mark.parametrize("signature", ["f(n: int)", "f(n: int) -> Any", "f(conn: Connection) -> int", "f(n) -> int"])
def test_nothing_is_said_where_nothing_is_known(signature):
    assert spec(f'def {signature}:\n    """Do."""\n') == Spec()


def test_an_example_that_is_not_of_the_annotated_type_is_a_doubt():
    found = spec(SHOWN.replace("-> list[int]", "-> int"))
    assert found.cases == ()
    assert found.doubts == ("The docstring's example gives [1, 2], which is not of the annotated type int.",)


def test_hints_come_only_beside_other_tests():
    region = Region(path="m.py", qualname="f", start=1, end=6)
    problem = Problem(root=Path("/w"), spec=Spec(), regions=(region,), originals={"m.py": SHOWN}, files={"m.py": SHOWN})
    assert asyncio.run(hints.collect(problem, None)) == Spec()
    case = Case(id="m.py::f::doctest-1", path="m.py", line=4, provenance=Provenance.DOCTEST)
    found = asyncio.run(hints.collect(replace(problem, spec=Spec(cases=(case,))), None))
    assert len(found.cases) == 1
