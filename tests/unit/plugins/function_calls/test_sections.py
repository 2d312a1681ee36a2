"""The sections of docstrings."""

from __future__ import annotations

import pytest

from greenloop.core.documentation import MOST
from greenloop.plugins.function_calls.sections import Entry, parse_sections

NUMPY = """Weighted mean.

    Parameters
    ----------
    values, weights : list of float
        The numbers
        and how much each counts.
    mode : {'a', 'b'}, optional
        Which.
    *args

    Returns
    -------
    float
        The mean.

    Raises
    ------
    ValueError
        If it is empty.
    KeyError, TypeError

    Notes
    -----
    x : no parameter
    """
GOOGLE = """Weighted mean.

    Args:
        values (list[float]): The numbers,
            all of them.
        mode (str, optional): Which: a or b.
        plain: No type.
        bare

    Returns:
        float: The mean.

    Raises:
        ValueError: If it is empty.
        KeyError or TypeError: Else.

    And x: more text.
    """
SPHINX = """Weighted mean.

    :param list values: The numbers
        and more.
    :param mode: Which.
    :type mode: str, optional
    :returns: The mean.
    :rtype: float
    :raises ValueError: if it is empty
    :raise KeyError, TypeError: else
    """


def test_numpy_sections_are_read() -> None:
    found = parse_sections(NUMPY)
    numbers = "The numbers and how much each counts."
    assert found.params == (
        Entry(name="values", type="list of float", text=numbers, line=5),
        Entry(name="weights", type="list of float", text=numbers, line=5),
        Entry(name="mode", type="{'a', 'b'}", text="Which.", line=8),
        Entry(name="args", line=10),
    )
    assert found.returns == Entry(type="float", text="The mean.", line=12)
    assert found.raises == (
        Entry(name="ValueError", text="If it is empty.", line=19),
        Entry(name="KeyError", line=21),
        Entry(name="TypeError", line=21),
    )


def test_google_sections_are_read() -> None:
    found = parse_sections(GOOGLE)
    assert [(param.name, param.type, param.text) for param in found.params] == [
        ("values", "list[float]", "The numbers, all of them."),
        ("mode", "str", "Which: a or b."),
        ("plain", "", "No type."),
        ("bare", "", ""),
    ]
    assert found.returns == Entry(type="float", text="The mean.", line=10)
    assert [(item.name, item.text) for item in found.raises] == [
        ("ValueError", "If it is empty."),
        ("KeyError", "Else."),
        ("TypeError", "Else."),
    ]


def test_sphinx_fields_are_read() -> None:
    found = parse_sections(SPHINX)
    assert [(param.name, param.type, param.text) for param in found.params] == [
        ("values", "list", "The numbers and more."),
        ("mode", "str", "Which."),
    ]
    assert found.returns == Entry(type="float", text="The mean.", line=7)
    assert [item.name for item in found.raises] == ["ValueError", "KeyError", "TypeError"]


@pytest.mark.parametrize(
    ("docstring", "returned"),
    [
        ("Returns:\n    the sum\n    of: all", Entry(text="the sum of: all", line=1)),
        ("Returns:\n    list[int]: the primes", Entry(type="list[int]", text="the primes", line=1)),
        ("It.\n\nReturns: the sum.\nof all\n\nMore.", Entry(text="the sum. of all", line=3)),
        ("Returns\n-------\nout : int\n    Text.", Entry(name="out", type="int", text="Text.", line=1)),
        ("## Returns\n\nthe sum", Entry(text="the sum", line=1)),
        (":rtype: int", Entry(type="int")),
        ("Returns the sum: all of it.", None),
        ("", None),
    ],
)
def test_a_result_in_other_words(docstring: str, returned: Entry | None) -> None:
    assert parse_sections(docstring).returns == returned


@pytest.mark.parametrize("text", ["a\r\n\r\nArgs:\r\n\tx (int): one\r\n", "a\n\n\tArgs:\n\t\tx (int): one\n"])
def test_tabs_and_carriage_returns(text: str) -> None:
    assert parse_sections(text).params == (Entry(name="x", type="int", text="one", line=4),)


@pytest.mark.parametrize(
    "piece", ["Args:\n    x: a\n", ":param x: y\n", ":", "\n", " ", "x " * 9, "Raises\n---\n", "`" * 7, "(", "f(1) -> "]
)
def test_a_megabyte_is_read_in_bounded_time_and_memory(piece: str) -> None:
    found = parse_sections(piece * (1_000_000 // len(piece)))
    assert len(found.params) <= MOST


def test_generators_are_known() -> None:
    assert parse_sections("Go.\n\nYields:\n    int: each").yields
