"""Where a traced run first leaves the values that a plan expects."""

from __future__ import annotations

import pytest

from greenloop_lab.drafting.feedback._divergence import first_divergence
from greenloop_sandbox.report.traces import LineTrace, TracedStep


def trace(*told: tuple[int, dict[str, str]], **more) -> LineTrace:
    steps = tuple(TracedStep(path="m.py", line=line, call=call, values=values) for call, line, values in told)
    return LineTrace(lines={}, steps=steps, **more)


def one_call(*told):
    return trace(*((1, line, values) for line, values in told))


# def total(items): (2) s = 0  (3) for i in items:  (4) s = i  (5) return s
RAN = one_call(
    (2, {"items": "[1, 2]"}), (3, {"s": "0"}), (4, {"i": "1"}), (3, {"s": "1"}), (4, {"i": "2"}),
    (3, {"s": "2"}), (5, {}), (5, {"return": "2"}),
)  # fmt: skip


@pytest.mark.parametrize(
    ("expected", "found"),
    [
        ([("s", "0"), ("s", "1"), ("s", "3"), ("return", "3")], ("s", 4, "3", "2")),
        ([("s", "1"), ("s", "3")], ("s", 4, "3", "2")),  # the plan leaves out what comes first
        ([("s", "3"), ("return", "3")], ("s", 4, "3", "2")),  # the plan has the last value alone
        ([("s", "9"), ("s", "2")], None),  # what is in between may be called otherwise
        ([("return", "3"), ("s", "1"), ("s", "3")], ("s", 4, "3", "2")),  # the earliest counts, not the first
        ([("items", "[1, 2, 3]"), ("s", "3")], ("items", 2, "[1, 2, 3]", "[1, 2]")),
        ([("i", "1"), ("i", "2"), ("i", "3")], ("i", 3, "3", "")),  # it ends too early
        ([("s", "0"), ("s", "1"), ("s", "2"), ("return", "2")], None),
        ([("s", "2")], None),
        ([("other", "7")], None),
        ([], None),
    ],
)
def test_the_first_difference(expected, found):
    divergence = first_divergence(expected, RAN)
    told = divergence and (divergence.variable, divergence.line, divergence.expected, divergence.observed)
    assert told == found


def test_calls_by_the_code_itself_do_not_count_and_a_second_call_of_the_test_does():
    ran = trace(
        (1, 2, {"n": "2"}), (2, 2, {"n": "1"}), (2, 3, {"return": "1"}), (1, 3, {"return": "3"}),
        (3, 2, {"n": "5"}), (3, 3, {"return": "9"}),
    )  # fmt: skip
    assert first_divergence([("n", "2"), ("n", "5"), ("return", "3"), ("return", "9")], ran) is None
    divergence = first_divergence([("n", "2"), ("return", "3"), ("return", "15")], ran)
    assert divergence is not None
    assert (divergence.expected, divergence.observed) == ("15", "9")


def test_an_exception_is_an_end():
    ran = one_call((2, {"n": "2"}), (3, {"raise": "ValueError()"}))
    divergence = first_divergence([("return", "4")], ran)
    assert divergence is not None
    assert (divergence.line, divergence.observed) == (3, "raise ValueError()")


def test_what_was_left_out_is_no_difference():
    steps = RAN.steps[:4]
    cut = LineTrace(lines={}, steps=(*steps, *RAN.steps[-2:]), gap=4, left_out=100)
    assert first_divergence([("s", "0"), ("s", "1"), ("s", "3"), ("return", "3")], cut) is None
