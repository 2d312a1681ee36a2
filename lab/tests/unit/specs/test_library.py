"""Common properties: where words and types suggest them, and where they must not."""

import pytest

from greenloop.core.records.spec import Region
from greenloop_lab.specs.kinds import properties
from greenloop_lab.specs.property_tests import Property


def found(text: str, name: str = "f") -> dict[str, str]:
    """Expression by name."""
    start = next(number for number, row in enumerate(text.split("\n"), 1) if row.startswith(f"def {name}("))
    region = Region(path="m.py", qualname=name, start=start, end=len(text.split("\n")))
    spec = properties.build_spec(region, text, "m")
    return dict(case.source.split(": ", 1) for case in spec.cases)


def written(signature: str, docstring: str) -> dict[str, str]:
    name = signature.partition("(")[0]
    return found(f'def {signature}:\n    """{docstring}"""\n', name)


@pytest.mark.parametrize(
    ("signature", "docstring", "names"),
    [
        ("f(xs: list[int]) -> list[int]", "Sort the numbers.", {"permutation", "ordered", "idempotent"}),
        ("sort_numbers(xs: list[int]) -> list[int]", "Rising order.", {"permutation", "ordered", "idempotent"}),
        ("reverse(s: str) -> str", "Turn the text round.", {"its own inverse", "length kept"}),
        (
            "dedupe(xs: list[int]) -> list[int]",
            "Keep the first of each.",
            {"nothing twice", "nothing new", "idempotent"},
        ),
        ("shuffle(xs: list[int]) -> list[int]", "In another order.", {"permutation"}),
        ("slugify(title: str) -> str", "A title for a URL.", {"idempotent"}),
        (
            "clamp(x: int, low: int, high: int) -> int",
            "Within both.",
            {"within its bounds", "unchanged within its bounds"},
        ),
        ("f(xs: list[int]) -> int", "Return the sum of the numbers in a list.", {"equals a brute force"}),
        ("f(xs: list[int]) -> int", "Return the sum of all elements of the list.", {"equals a brute force"}),
        ("f(nums: list[int]) -> int", "Find the largest number in the given list.", {"equals a brute force"}),
        ("f(nums: list[int]) -> int", "Return the smallest element of `nums`.", {"equals a brute force"}),
        ("f(s: str) -> int", "Count the vowels of a text.", {"not negative"}),
        ("f(s: str) -> int", "Return the number of words.", {"not negative"}),
    ],
)
def test_words_that_suggest_a_property(signature, docstring, names):
    assert names <= set(written(signature, docstring))


@pytest.mark.parametrize(
    ("signature", "docstring", "name"),
    [
        ("f(xs: list[int]) -> list[int]", "Sort and remove duplicates.", "permutation"),
        ("f(xs: list[str]) -> list[str]", "Sort by length.", "ordered"),
        ("f(xs: list[int]) -> list[int]", "Sort in ascending or descending order.", "x"),
        ("reverse_words(s: str) -> str", "Reverse each word.", "its own inverse"),
        ("f(xs: list[int]) -> list[int]", "Remove consecutive duplicates.", "nothing twice"),
        ("f(xs: list[int]) -> int", "Return the sum of the even numbers in a list.", "equals a brute force"),
        ("f(xs: list[int]) -> int", "Return the largest sum of a sublist.", "equals a brute force"),
        ("f(xs: list[int]) -> int", "Find the largest number in a list that is odd.", "equals a brute force"),
        ("f(xs: list[int], k: int) -> int", "Return the sum of the numbers in a list.", "equals a brute force"),
        ("f(xs: list[list[int]]) -> int", "Return the sum of the numbers in a list.", "equals a brute force"),
        ("f(s: str) -> str", "Remove the first occurrence of a letter.", "idempotent"),
        ("f(a: int, b: int) -> int", "The sign of a count.", "not negative"),
        ("f(s: str) -> int", "The difference between the number of ones and of zeros.", "not negative"),
        ("text_lowercase(s: str) -> str", "Find lowercase words.", "idempotent"),
        ("f(xs: list[int]) -> int", "Sort the list and give the middle.", "ordered"),
        ("f(n: int) -> int", "Raises ValueError when n is invalid.", "no exception"),
        ("f(n) -> int", "Something.", "no exception"),
    ],
)
def test_words_that_mean_something_else(signature, docstring, name):
    assert name not in written(signature, docstring)


def test_falling_order_is_known():
    assert written("f(xs: list[int]) -> list[int]", "Sort in descending order.")["ordered"].startswith("all(a >= b")


PAIR = '''def encode(s: str) -> str:
    """Run lengths."""
    return s


def decode(s: str) -> str:
    """The text that was encoded."""
    raise NotImplementedError
'''


def test_a_sibling_that_is_written_undoes_it():
    assert found(PAIR, "decode")["decode undoes encode"] == "result == s"


def test_a_sibling_that_is_not_written_says_nothing():
    assert "decode undoes encode" not in found(PAIR.replace("    return s", "    ..."), "decode")


def test_numbers_and_their_texts_undo_each_other():
    text = (
        'def roman_to_int(s: str) -> int:\n    """A roman numeral."""\n    return 1\n\n\n'
        'def int_to_roman(n: int) -> str:\n    """A positive integer as roman numeral."""\n'
    )
    assert found(text, "int_to_roman")["roman_to_int undoes int_to_roman"] == "roman_to_int(result) == n"


def test_arguments_are_left_alone_where_the_docstring_says_so():
    said = written("f(xs: list[int]) -> list[int]", "Returns a new list with zeros last.")
    assert "arguments unchanged" in said
    assert "arguments unchanged" not in written("f(xs: list[int]) -> list[int]", "Zeros come last.")


def test_documented_exceptions_say_that_an_input_is_none():
    text = 'def f(n: int) -> int:\n    """Half.\n\n    Raises:\n        KeyError: when odd.\n    """\n'
    region = Region(path="m.py", qualname="f", start=1, end=7)
    stated = Property(name="smaller", expression="result <= n", source="model")
    (sheet,) = properties.build_spec(region, text, "m", [stated]).files.values()
    assert "except (ValueError, ArithmeticError, KeyError):" in sheet
