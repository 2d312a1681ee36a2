"""Annotations as expressions."""

import pytest

from greenloop_lab.specs.type_hints import type_check_expression


@pytest.mark.parametrize(
    ("annotation", "good", "bad"),
    [
        ("int", 1, "1"),
        ("float", 1, "1"),
        ("list[int]", [1], ["1"]),
        ("dict[str, int]", {"a": 1}, {1: 1}),
        ("tuple[int, str]", (1, "a"), (1, 2)),
        ("tuple[int, ...]", (1, 2), (1, "2")),
        ("Optional[str]", None, 1),
        ("list[list[int]]", [[1]], [1]),
        ("Literal['a', 'b']", "a", "c"),
        ("set[str]", {"a"}, ["a"]),
    ],
)
def test_annotations_as_expressions(annotation, good, bad):
    expression = type_check_expression(annotation, "result")
    assert eval(expression, {"result": good})
    assert not eval(expression, {"result": bad})


@pytest.mark.parametrize("annotation", ["Iterator[int]", "Any", "Sequence[int]", "Thing", "np.ndarray", "T"])
def test_annotations_that_cannot_be_tested(annotation):
    assert type_check_expression(annotation, "result") == ""
