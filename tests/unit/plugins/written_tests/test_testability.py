"""Docstrings that say too little, or what no test can check."""

from __future__ import annotations

import pytest

from greenloop.core.documentation import doctests_in
from greenloop.plugins.written_tests.testability import find_untestable_effects, why_unusable

NOTHING = [
    ("f", None),
    ("f", ""),
    ("f", "   \n\t\n"),
    ("f", "..."),
    ("f", "TODO"),
    ("merge_sort", "Merge sort."),
    ("merge_sort", "The merge_sort function."),
    ("mergeSort", "Does a merge sort."),
    ("Box.get_items", "Gets items."),
]
SOMETHING = [
    ("merge_sort", "Merge sort, stable."),
    ("f", "f(2) == 4"),
    ("double", "Double a number."),
    ("f", "\u4e8c\u500d\u306b\u3059\u308b"),
    ("add", ":param x: a number\n:returns: the sum"),
]


@pytest.mark.parametrize(("name", "docstring"), NOTHING)
def test_a_docstring_that_says_nothing_is_named(name, docstring):
    assert why_unusable(name, docstring) == f"The docstring of {name} states nothing that can be tested."


@pytest.mark.parametrize(("name", "docstring"), SOMETHING)
def test_a_docstring_that_says_something_is_used(name, docstring):
    assert why_unusable(name, docstring) == ""


DESCRIBED = [
    ("Download the page and count its words.", "a network call", "Download"),
    ("Fetches the user from the given URL.", "a network call", "Fetches the user from the given URL"),
    ("Sends an email to everybody.", "a network call", "Sends an email"),
    ("Returns a random number below n.", "randomness", "random"),
    ("Shuffles the list.", "randomness", "Shuffles"),
]
QUIET = [
    "Parse a URL into its parts.",
    "Count the words of a text, without any network calls.",
    "Add two numbers.",
    "Return the file name without its extension.",
    "Give the time in seconds between two stamps.",
    "Does not download anything.",
    "Prints the numbers up to n.",
    "Sort requests by their number.",
    "Sample variance of the values.",
    "Pick a random item; the same seed gives the same item.",
]


@pytest.mark.parametrize(("docstring", "kind", "word"), DESCRIBED)
def test_effects_that_no_test_sees_are_named_with_their_word(docstring, kind, word):
    [sentence] = find_untestable_effects("def f(x):", docstring)
    assert sentence.startswith(f'It describes {kind} ("{word}"); ')


@pytest.mark.parametrize("docstring", QUIET)
def test_a_word_alone_is_no_effect(docstring):
    assert find_untestable_effects("def f(x):", docstring) == ()


def test_the_network_sentence_says_why_nothing_can_verify_it():
    assert find_untestable_effects("def f(x):", "Download x.") == (
        'It describes a network call ("Download"); the sandbox has no network, so tests cannot check it.',
    )


@pytest.mark.parametrize(
    "docstring",
    [
        r"Reads \d+ \x00 raw.",
        "\tTabs\tand\r\nreturns\r\n",
        'It\'s "quoted" \'\'\' and """ too.',
        "\ud83d\ude00 " * 9,
        "\x00",
        "`" * 99,
        "a " * 500_000,
        "no " * 300_000,
        "sends " * 160_000,
    ],
)
def test_nasty_text_is_read_in_bounded_time(docstring):
    assert len(find_untestable_effects("def f(x", docstring)) <= 2
    why_unusable("f", docstring)


def test_examples_of_deeply_nested_code_are_found():
    text = f'def f():\n    """\n    >>> f()\n    4\n    """\n    return {"+".join(["1"] * 2000)}\n'
    assert doctests_in(text) == {"f": [("f()\n", "4\n")]}
