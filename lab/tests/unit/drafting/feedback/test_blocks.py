"""Blocks of a function, and their visits."""

from __future__ import annotations

import ast
import textwrap

from greenloop_lab.drafting.feedback._blocks import basic_blocks, block_visits
from greenloop_sandbox.report.traces import LineTrace, TracedStep

CODE = "def total(items):\n    s = 0\n    t = 1\n    for i in items:\n        s = i\n    return s\n"


def steps(*told: tuple[int, dict[str, str]], call: int = 1) -> tuple[TracedStep, ...]:
    return tuple(TracedStep(path="m.py", line=line, call=call, values=values) for line, values in told)


RAN = steps(
    (2, {"items": "[1, 2]"}), (3, {"s": "0"}), (4, {"t": "1"}), (5, {"i": "1"}), (4, {"s": "1"}), (5, {"i": "2"}),
    (4, {"s": "2"}), (6, {}), (6, {"return": "2"}),
)  # fmt: skip


def split(code: str) -> list[tuple[int, int]]:
    return [(block.start, block.end) for block in basic_blocks("m.py", ast.parse(textwrap.dedent(code)).body)]


def test_simple_statements_share_a_block_and_loop_heads_stand_alone():
    assert split(CODE) == [(1, 1), (2, 3), (4, 4), (5, 5), (6, 6)]


def test_a_branch_ends_its_block():
    code = """
        a = 1
        if a:
            b = 2
            c = 3
        elif (
            a
        ):
            return b
        else:
            d = 5
        e = 6
    """
    assert split(code) == [(2, 3), (4, 5), (6, 7), (9, 9), (11, 11), (12, 12)]


def test_try_with_match_and_nested_functions():
    code = """
        try:
            a = f(
                1)
        except ValueError:
            b = 1
        with a as b:
            c = 1
        match c:
            case 1:
                d = 1
        def inner():
            '''Doc.'''
            return 1
        x = inner()
    """
    assert split(code) == [
        (2, 2), (3, 4), (5, 5), (6, 6), (7, 7), (8, 8), (9, 9), (10, 10), (11, 11), (12, 15), (14, 14)
    ]  # fmt: skip


def test_many_branches_in_a_row_are_no_recursion():
    code = "def f(a):\n    if a == 0:\n        return 0\n" + "".join(
        f"    if a == {n}:\n        return {n}\n" for n in range(1, 3000)
    )
    assert len(split(code)) == 6001


def test_values_before_and_after_each_visit():
    ran = block_visits(LineTrace(lines={}, steps=RAN), basic_blocks("m.py", ast.parse(CODE).body))
    assert [(visit.block.start, dict(visit.before), visit.after) for visit in ran[:3]] == [
        (2, {"items": "[1, 2]"}, {"s": "0", "t": "1"}),
        (4, {"items": "[1, 2]", "s": "0", "t": "1"}, {"i": "1"}),
        (5, {"items": "[1, 2]", "s": "0", "t": "1", "i": "1"}, {"s": "1"}),
    ]
    assert ran[-1].after == {"return": "2"}
    assert len(ran) == 7


def test_each_call_of_a_recursion_has_its_own_variables():
    code = "def f(n):\n    m = f(n - 1) if n else 0\n    return m\n"
    told = [
        *steps((2, {"n": "1"})),
        *steps((2, {"n": "0"}), (3, {"m": "0"}), (3, {"return": "0"}), call=2),
        *steps((3, {"m": "0"}), (3, {"return": "0"})),
    ]
    ran = block_visits(LineTrace(lines={}, steps=tuple(told)), basic_blocks("m.py", ast.parse(code).body))
    assert [(visit.call, dict(visit.before), visit.after) for visit in ran] == [
        (1, {"n": "1"}, {"m": "0", "return": "0"}),
        (2, {"n": "0"}, {"m": "0", "return": "0"}),
    ]


def test_a_statement_of_several_lines_is_one_visit():
    code = "def f(n):\n    m = g(\n        n,\n    )\n    return m\n"
    ran = block_visits(
        LineTrace(lines={}, steps=steps((2, {"n": "1"}), (3, {}), (2, {}), (5, {"m": "2"}), (5, {"return": "2"}))),
        basic_blocks("m.py", ast.parse(code).body),
    )
    assert [visit.after for visit in ran] == [{"m": "2", "return": "2"}]
