"""Values that are made up."""

import pytest

from function_headers import read_header
from greenloop.plugins.function_calls import value_strategies


def strategies(text: str, name: str = "f") -> dict[str, str]:
    found, _without = value_strategies.build_strategies(read_header(text, name), text, "m", {})
    return {each.name: each.strategy for each in found}


@pytest.mark.parametrize(
    ("annotation", "strategy"),
    [
        ("int", "st.integers(-1000, 1000)"),
        ("bool", "st.booleans()"),
        ("float", "st.floats(-1000, 1000, width=16)"),
        ("Optional[int]", "st.one_of(st.integers(-1000, 1000), st.none())"),
        ("int | None", "st.one_of(st.integers(-1000, 1000), st.none())"),
        ("List[bool]", "st.lists(st.booleans(), max_size=8)"),
        ("Sequence[Sequence[int]]", "st.lists(st.lists(st.integers(-1000, 1000), max_size=4), max_size=8)"),
        ("dict[bool, int]", "st.dictionaries(st.booleans(), st.integers(-1000, 1000), max_size=8)"),
        ("tuple[int, bool]", "st.tuples(st.integers(-1000, 1000), st.booleans())"),
        ("tuple[int, ...]", "st.lists(st.integers(-1000, 1000), max_size=8).map(tuple)"),
        ("tuple[()]", "st.tuples()"),
        ("set[int]", "st.sets(st.integers(-1000, 1000), max_size=8)"),
        ("Literal['a', 'b']", "st.sampled_from(['a', 'b'])"),
        ("'list[bool]'", "st.lists(st.booleans(), max_size=8)"),
        ("datetime.date", "st.dates()"),
    ],
)
def test_values_by_annotation(annotation, strategy):
    assert strategies(f'def f(x: {annotation}):\n    """Do."""\n') == {"x": strategy}


@pytest.mark.parametrize("annotation", ["Connection", "Callable[[int], int]", "list[Connection]", "Path"])
def test_no_values_for_what_cannot_be_made_up(annotation):
    assert strategies(f'def f(x: {annotation}):\n    """Do."""\n') == {}


def test_classes_of_the_module_are_built_by_their_annotations():
    text = 'import enum\n\nclass Color(enum.Enum):\n    RED = 1\n\ndef f(x: Color):\n    """Do."""\n'
    assert "st.from_type(__import__('m', fromlist=['_']).Color)" in strategies(text)["x"]


@pytest.mark.parametrize(
    ("docstring", "strategy"),
    [
        (">>> f([1, 2])\n    3", "st.lists(st.integers(0, 1000), max_size=8)"),
        (">>> f([-1, 2])\n    3", "st.lists(st.integers(-1000, 1000), max_size=8)"),
        ("For example f((1, 2)) gives 3.", "st.lists(st.integers(0, 1000), max_size=8).map(tuple)"),
        ("assert f('(()') == False", "st.text('()', max_size=8)"),
        ("Sum of a list of integers.", "st.lists(st.integers(-1000, 1000), max_size=8)"),
        ("The largest of a list of positive integers.", "st.lists(st.integers(1, 1000), min_size=1, max_size=8)"),
        ("Is the integer even?", "st.integers(-1000, 1000)"),
    ],
)
def test_values_by_the_docstring_alone(docstring, strategy):
    assert strategies(f'def f(x):\n    """{docstring}\n    """\n') == {"x": strategy}
