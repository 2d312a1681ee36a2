"""The selection of rows that differ."""

from __future__ import annotations

from greenloop_lab.engine.history.diverse import BINS, select, signature, texts_of


def test_twenty_of_ninety_and_ten_have_both_error_classes():
    rows = [
        (n, "TypeError" if n % 10 == 9 else "AssertionError", signature([f"x = {n} + y * {n}"])) for n in range(100)
    ]
    selected = select(rows, 20)
    assert len(selected) == 20
    assert sum(n % 10 == 9 for n in selected) == 10


def test_a_class_without_more_rows_is_passed_over():
    rows = [(0, "A", 1), *((n, "B", n) for n in range(1, 9))]
    assert len(select(rows, 5)) == 5
    assert 0 in select(rows, 2)


def test_what_is_alike_is_taken_last():
    same, other = signature(["for a in b: print(a)"] * 2), signature(["while True: x = f(y) + z[1]"])
    rows = [("a", "E", same), ("b", "E", same), ("c", "E", other), ("d", "E", same)]
    assert select(rows, 2) == {"a", "c"}


def test_the_selection_is_the_same_each_time_and_everything_where_there_is_no_more():
    rows = [(n, "E", signature([f"value {n * n} of {n}"])) for n in range(50)]
    assert select(rows, 7) == select(iter(rows), 7)
    assert select(rows, 50) == select(rows, 99) == set(range(50))


def test_texts_that_share_most_tokens_are_nearer_than_those_that_share_none():
    text = "def total(values): result = 0; for value in values: result += value; return result"
    near, far = text.replace("+=", "-="), "class Stack: items = []; push = lambda self, x: self.items.append(x)"
    distances = [(signature([text]) ^ signature([other])).bit_count() for other in (text, near, far)]
    assert distances[0] == 0 < distances[1] < distances[2] <= BINS


def test_every_text_of_a_value_counts():
    assert list(texts_of({"a": "x", "b": ["y", {"c": "z"}], "d": 3, "e": None})) == ["x", "y", "z"]
