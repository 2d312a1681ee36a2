"""Which functions produced the value that a failed statement compared."""

from __future__ import annotations

from inside import load

tracer = load("statement_tracer")


class Box:
    def __init__(self, items) -> None:
        self.items = items

    def __eq__(self, other) -> bool:
        raise AssertionError("code of the project was run")

    __hash__ = None


def failure(compared) -> AssertionError:
    error = AssertionError()
    return tracer._followed(error, compared, "/nowhere")


def test_the_returned_object_itself_then_what_it_holds():
    part = [1]
    box = Box({"part": part})
    found = tracer._producers([("make", box, None), ("split", part, None), ("other", [1], None)], failure((box, 3)))
    assert found == {"make": 100, "split": 36}


def test_methods_of_a_compared_object():
    box = Box([])
    assert tracer._producers([("add", None, box), ("add", None, Box([]))], failure((box,))) == {"add": 50}


def test_texts_are_compared_by_value_and_short_ones_are_not():
    returns = [("long", "a-b", None), ("short", "a", None), ("number", 42, None), ("truth", True, None)]
    assert tracer._producers(returns, failure(("a-b", "a", 42, True))) == {"long": 100, "number": 50}


def test_values_without_end_are_followed_so_far():
    endless: list = []
    endless.append(endless)
    objects, _atoms, kept = failure((endless, [[n] for n in range(10_000)]))
    assert id(endless) in objects
    assert len(kept) <= tracer.MAX_VALUES
