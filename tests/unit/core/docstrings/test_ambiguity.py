"""Docstrings that say too little, or what no test could hold: each told in a plain sentence, and none too many."""

from __future__ import annotations

import pytest

from greenloop.core.docstrings.ambiguity import find_doubts, find_effects, foreign_language, is_testable, why_unusable

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
    ("Download the page and count its words.", "a network call", "Download", False),
    ("Fetches the user from the given URL.", "a network call", "Fetches the user from the given URL", False),
    ("Sends an email to everybody.", "a network call", "Sends an email", False),
    ("Returns a random number below n.", "randomness", "random", False),
    ("Shuffles the list.", "randomness", "Shuffles", False),
    ("Returns the current date as text.", "the time of day", "current date", True),
    ("Sleeps between calls.", "the time of day", "Sleeps", True),
    ("Reads the file and returns its lines.", "input from outside", "Reads the file", True),
    ("Asks the user for a name.", "input from outside", "Asks the user", True),
    ("Prints the numbers up to n.", "output", "Prints", True),
    ("Writes the rows to a file.", "output", "Writes the rows to a file", True),
]
QUIET = [
    "Parse a URL into its parts.",
    "Count the words of a text, without any network calls.",
    "Never prints anything.",
    "Add two numbers.",
    "Return the file name without its extension.",
    "Give the time in seconds between two stamps.",
    "Does not download anything.",
    "Sort requests by their number.",
    "Sample variance of the values.",
    "Pick a random item; the same seed gives the same item.",
]


@pytest.mark.parametrize(("docstring", "kind", "word", "held"), DESCRIBED)
def test_what_no_test_of_the_result_sees_is_named_with_its_word(docstring, kind, word, held):
    [effect] = find_effects("def f(x):", docstring)
    assert (effect.kind, effect.word) == (kind, word)
    [sentence] = find_doubts("def f(x):", docstring)
    assert sentence.startswith(f'It describes {kind} ("{word}"); ')
    assert is_testable("def f(x):", docstring) is held


@pytest.mark.parametrize("docstring", QUIET)
def test_a_doubt_is_not_raised_by_a_word_alone(docstring):
    assert find_doubts("def f(x):", docstring) == ()


def test_the_network_sentence_says_why_nothing_can_verify_it():
    assert find_doubts("def f(x):", "Download x.") == (
        'It describes a network call ("Download"); the sandbox has no network, so tests cannot check it.',
    )


LANGUAGES = [
    ("Gibt die Summe der Zahlen zurück, wenn die Liste nicht leer ist.", "German"),
    ("Renvoie la somme des nombres de la liste, ou z\u00e9ro si elle est vide.", "French"),
    ("Devuelve la suma de los n\u00fameros de la lista, o cero si es vac\u00eda.", "Spanish"),
    (
        "\u6570\u306e\u30ea\u30b9\u30c8\u306e\u5408\u8a08\u3092\u8fd4\u3059\u3002\u7a7a\u306a\u3089\u30bc\u30ed\u3002",
        "another language than English",
    ),
    (
        "\u0412\u043e\u0437\u0432\u0440\u0430\u0449\u0430\u0435\u0442 \u0441\u0443\u043c\u043c\u0443 \u0447\u0438\u0441\u0435\u043b.",
        "another language than English",
    ),
    ("Return the sum of the numbers in the list, or zero if it is empty.", ""),
    ("Sort la liste.", ""),
    ("Replace the letters \u00e4, \u00f6 and \u00fc by ae, oe and ue.", ""),
    ("Translate 'der die das und ist nicht ein eine' to English words.", ""),
    (">>> f('\u6570\u306e\u30ea\u30b9\u30c8\u306e\u5408\u8a08\u3092\u8fd4\u3059\u3002\u7a7a\u306a\u3089')\n'x'", ""),
    ("", ""),
]


@pytest.mark.parametrize(("docstring", "language"), LANGUAGES)
def test_another_language_is_a_doubt_and_no_refusal(docstring, language):
    assert foreign_language(docstring) == language
    if language:
        assert why_unusable("f", docstring) == ""
        assert f"seems to be in {language};" in find_doubts("def f(x):", docstring)[0]


UNDEFINED = [
    ("Turn a :class:`Matrix` around.", "Matrix, which is"),
    ("Turn a ``Matrix`` around by a `Rotation`.", "Matrix, Rotation, which are"),
    ("Turn it.\n\nArgs:\n    m (Matrix): it\n", "Matrix, which is"),
    ("Turn it.\n\nParameters\n----------\nm : Matrix\n    It.\n", "Matrix, which is"),
]
DEFINED = [
    "A `Box` and ``None``.",
    "Uses `Path` or ``List``.",
    "The `X`.",
    "`True` if so.",
    "Turn a Matrix.",
    "Args:\n    Box (Box): `Box`",
]


@pytest.mark.parametrize(("docstring", "said"), UNDEFINED)
def test_a_name_that_nobody_defines_is_a_doubt(docstring, said):
    assert find_doubts("def f(m):", docstring, {"Box"}) == (
        f"The docstring mentions {said} not defined or imported in the module.",
    )
    assert find_doubts("def f(m):", docstring) == ()


@pytest.mark.parametrize("docstring", DEFINED)
def test_a_known_name_is_no_doubt(docstring):
    assert find_doubts("def f(m):", docstring, {"Box"}) == ()


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
    assert len(find_doubts("def f(x", docstring, set())) <= 3
    why_unusable("f", docstring)
