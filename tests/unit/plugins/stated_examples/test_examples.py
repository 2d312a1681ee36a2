"""What docstrings and comments state: checks with their lines, contradictions, and what cannot be called."""

from __future__ import annotations

from textwrap import indent

import pytest

from greenloop.core.records.spec import Provenance, Region
from greenloop.plugins.stated_examples import examples
from greenloop.project import targets


def region(text: str, name: str = "f") -> Region:
    found = targets.find_target(text, "pkg/m.py", name)
    assert found is not None
    return found.region


def of(docstring: str, body: str = "raise NotImplementedError", head: str = "def f(x, y=0):") -> list[tuple[int, str]]:
    text = f'{head}\n    """{docstring}"""\n{indent(body, "    ")}\n'
    return [(case.line, case.source) for case in examples.build_spec(region(text), text, "pkg.m").cases]


def test_each_form_is_a_binding_case_at_its_own_line():
    text = '''"""Module."""


class TooSmall(Exception):
    pass


# f(5) == 25
def f(x):
    r"""Squares x.

    f(2) returns 4, and `f(-3)` gives `9`.

    Examples:
        assert f(1) == 1
        f(0.5) == 0.25
        >>> f(2)
        4
        >>> f(7)
        49

    ::

        xs = [2, 3]
        assert [f(x) for x in xs] == [4, 9]

    Raises:
        f(-100) raises TooSmall.
        ValueError: if x is odd.
    """
    # TODO: f(10) = 100
    raise NotImplementedError  # assert f(6) == 36
'''
    spec = examples.build_spec(region(text), text, "pkg.m")
    assert [(case.line, case.source) for case in spec.cases] == [
        (8, "assert f(5) == 25"),
        (12, "assert f(-3) == 9"),
        (15, "assert f(1) == 1"),
        (16, "assert f(0.5) == pytest.approx(0.25, rel=1e-09, abs=0.005)"),
        (25, "assert [f(x) for x in xs] == [4, 9]"),
        (28, "with pytest.raises(TooSmall): f(-100)"),
        (31, "assert f(10) == 100"),
        (32, "assert f(6) == 36"),
    ]
    assert {case.provenance for case in spec.cases} == {Provenance.EXAMPLE}
    assert all(case.binding and case.path == "pkg/m.py" for case in spec.cases)
    [sheet] = spec.files.values()
    compile(sheet, "sheet", "exec")
    assert "    from pkg.m import TooSmall\n" in sheet
    assert "    xs = [2, 3]\n    assert" in sheet


STATED = [
    ("It.\n\n    ```python\n    assert f(1) == 2\n    ```\n    ", [(5, "assert f(1) == 2")]),
    ("It.\n\n    .. code-block:: python\n\n        assert f(1) == 2\n    ", [(6, "assert f(1) == 2")]),
    (
        "It.\n\n    Examples\n    --------\n    assert f(1) == 2\n    assert f(2) == 3\n    ",
        [(6, "assert f(1) == 2"), (7, "assert f(2) == 3")],
    ),
    ("assert f(1) > 0", [(2, "assert f(1) > 0")]),
    ("assert f(\n        1\n    ) == 2", [(2, "assert f(1) == 2")]),
    ("with pytest.raises(ValueError):\n        f(-1)\n    ", [(2, "with pytest.raises(ValueError): f(-1)")]),
    ("It.\n\n    with pytest.raises(ValueError):\n        f(-1)\n    ", [(4, "with pytest.raises(ValueError): f(-1)")]),
    ("assert f(unknown) == 2", []),
    ("Assert that f(1) is 2.", [(2, "assert f(1) == 2")]),
    ("Wrong:\n\n        assert f(1) == 2\n    ", []),
    ("len(f(2)) == 3", [(2, "assert len(f(2)) == 3")]),
    ("f(2) == f(-2)", [(2, "assert f(2) == f(-2)")]),
    ("f(2) == f(z)", []),
    ("f(1) == 2\n    f(1) == 2\n    ", [(2, "assert f(1) == 2")]),
    ("f(2) -> 4\n\n    >>> f(2)\n    4\n    ", []),
    (">>> f(2) == 4\n    True\n    ", []),
    ("A generator: f(2) -> [0, 1]", []),
    ("Prints it.\n\n    f(2) -> 4", []),
    ("Sorts x in place: f([2, 1]) -> [1, 2]", []),
    ("Go.\n\n    Yields:\n        f(2) == 4\n    ", []),
    ("f(2) == 4\r\n\tf(3) == 9\r\n", [(2, "assert f(2) == 4"), (3, "assert f(3) == 9")]),
    ("f('it''s') == 1", [(2, "assert f('its') == 1")]),
    ("f(\\\"a\\\") == 'a\\\\n'", [(2, "assert f('a') == 'a\\n'")]),
    ("One\\\n two\n    f(2) == 4\n    ", [(4, "assert f(2) == 4")]),
    ("\u00dcber f: f('\u00e9') == '\u00c9'", [(2, "assert f('\u00e9') == '\u00c9'")]),
    ("f(1) == 2  # one more\n    f(2) == 3  # two more", [(2, "assert f(1) == 2"), (3, "assert f(2) == 3")]),
    ("", []),
]


@pytest.mark.parametrize(("docstring", "found"), STATED)
def test_what_a_docstring_states(docstring, found):
    assert of(docstring) == found


def test_an_async_function_is_checked_by_asserts_alone():
    head = "async def f(x):"
    assert of("f(2) == 4\n    assert asyncio.run(f(2)) == 4\n    ", head=head) == [(3, "assert asyncio.run(f(2)) == 4")]


def test_comments_count_only_as_long_as_nothing_is_written():
    assert of("It.", "# assert f(1) == 2\n# f(2) -> 3\npass") == [(3, "assert f(1) == 2"), (4, "assert f(2) == 3")]
    assert of("It.", "# assert f(1) == 2\nreturn x") == []


def test_a_docstring_is_read_where_the_body_or_the_file_is_broken():
    text = 'def f(x):\n    """It.\n\n    f(1) == 2\n    """\n    return (\n\n\ndef g(:\n'
    spec = examples.build_spec(Region(path="m.py", qualname="f", start=1, end=6), text, "m")
    assert [(case.line, case.source) for case in spec.cases] == [(4, "assert f(1) == 2")]


def test_a_method_needs_its_class():
    text = 'class A:\n    def f(self, x):\n        """f(1) == 2; A(3).f(1) == 4; A.f(2) -> 1."""\n'
    spec = examples.build_spec(region(text, "A.f"), text, "m")
    assert [case.source for case in spec.cases] == ["assert A(3).f(1) == 4", "assert A.f(2) == 1"]


def test_a_call_that_the_parameters_do_not_allow_is_a_doubt():
    text = 'def f(x):\n    """f(1, 2) == 3. f(y=1) == 1.\n\n    f(1) == 2"""\n'
    spec = examples.build_spec(region(text), text, "m")
    assert [case.source for case in spec.cases] == ["assert f(1) == 2"]
    assert spec.doubts == (
        "Line 2 calls f(1, 2), which the parameters of f do not allow.",
        "Line 2 calls f(y=1), which the parameters of f do not allow.",
    )


@pytest.mark.parametrize(
    ("docstring", "said"),
    [
        ("f(2) == 4\n    f(2) returns 5.", "line 2 says that f(2) is 4, line 3 says that it is 5."),
        (">>> f(2)\n    4\n\n    assert f(2) == 5\n    ", "line 2 says that f(2) is 4, line 5 says that it is 5."),
        (
            "f(-1) raises ValueError.\n    f(-1) == 1",
            "line 2 says that f(-1) raises ValueError, line 3 says that it is 1.",
        ),
    ],
)
def test_a_contradiction_names_both_lines_and_is_no_case(docstring, said):
    text = f'def f(x):\n    """{docstring}"""\n'
    spec = examples.build_spec(region(text), text, "m")
    assert spec.cases == ()
    assert spec.doubts == (f"The documentation of f contradicts itself: {said}",)


@pytest.mark.parametrize(
    "docstring",
    ["f(1) == 0.33\n    f(1) == 0.333", "f(2) == 4\n    f(2) == 4.0", ">>> tick()\n    1\n    >>> tick()\n    2"],
)
def test_what_differs_in_digits_or_calls_another_function_is_no_contradiction(docstring):
    text = f'def f(x):\n    """{docstring}"""\n'
    assert "contradicts" not in "".join(examples.build_spec(region(text), text, "m").doubts)


@pytest.mark.parametrize(
    "piece", ["f(1) == ", "f(", "f([", "f(1) -> 2\n", "assert f(1) == (\n", "Input: 3\n", "f(1), ", "'", "a\n"]
)
def test_half_a_megabyte_is_read_in_bounded_time_and_memory(piece):
    text = f"def f(x):\n    r'''{piece * (500_000 // len(piece))} '''\n"
    assert (
        len(examples.build_spec(Region(path="m.py", qualname="f", start=1, end=text.count("\n")), text, "m").cases)
        <= 100
    )
