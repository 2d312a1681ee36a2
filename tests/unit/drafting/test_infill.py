"""Holes: what is masked, what is asked, and what comes of an answer."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from greenloop.core.compose import compose
from greenloop.core.records.attempt import Attempt, Candidate, Draft, Finding, Mask, Move
from greenloop.core.records.model import Role
from greenloop.core.records.problem import Excerpt, Problem
from greenloop.core.records.spec import Case, Region, Spec
from greenloop.core.records.verdict import Status, Verdict
from greenloop.drafting import infill

SOURCE = '''import math


class C:
    def f(self, items):
        """Sum of all.

        Of positive ones.
        """
        total = 0
        for item in items:
            if item >= 0:
                total += max(
                    item,
                    0,
                )

        return total
'''
REGION = Region(path="m.py", qualname="C.f", start=5, end=18)
PROBLEM = Problem(
    root=Path("/w"),
    spec=Spec(cases=(Case(id="t", path="t.py", line=1),), selectors=("t",)),
    regions=(REGION,),
    originals={"m.py": SOURCE},
    files={"m.py": SOURCE},
)
USERS = Attempt(number=0, verdict=Verdict(status=Status.FAILED))


def spans(masks):
    return [(mask.start, mask.end) for mask in masks]


def mask(start: int, end: int) -> Mask:
    return Mask(region=REGION, start=start, end=end)


def test_every_statement_and_head_is_masked_but_not_the_docstring():
    assert spans(infill.rank_masks(PROBLEM, USERS)) == [(6, 6), (7, 7), (8, 8), (9, 12), (14, 14)]


def test_suspected_lines_come_first():
    problem = replace(PROBLEM, suspicion={"m.py": {12: 0.9, 18: 0.5}})
    assert spans(infill.rank_masks(problem, USERS))[:2] == [(8, 8), (14, 14)]


def test_pairs_are_neighbours_and_inserts_are_empty():
    ordered = infill.rank_masks(PROBLEM, USERS)
    assert spans(infill.pair_masks(ordered)) == [(6, 7), (7, 8), (8, 12)]
    assert spans(infill.insertion_masks(ordered))[:2] == [(6, 5), (7, 6)]


def ask(at: Mask, *excerpts: Excerpt):
    return infill.infill_request(
        PROBLEM, USERS, Draft(parent=0, move=Move.INFILL, role=Role.REFINER, masked=at), excerpts
    )


def test_the_hole_stands_between_what_is_before_and_after():
    asked = ask(mask(8, 8), Excerpt(title="tests", text="assert C().f([1]) == 1", value=0.9))
    assert asked.prefix.startswith("assert C().f([1]) == 1\n")
    assert asked.prefix.endswith("        for item in items:\n            ")
    assert asked.suffix.startswith("\n                total += max(\n")
    assert asked.stop == ("\n",)
    assert "if item >= 0" not in asked.prefix + asked.suffix


def test_the_code_itself_is_not_shown_twice():
    asked = ask(mask(8, 8), Excerpt(title="code", text="OWN", value=1.0, own=True))
    assert "OWN" not in asked.prefix


def test_a_model_without_the_mode_gets_a_question():
    asked = infill.as_chat(ask(mask(8, 8)), "Fill $blank:\n$code")
    assert "            <FILL>\n                total" in asked.messages[0].content


def test_a_second_question_to_such_a_model_is_a_sample():
    asked = ask(mask(8, 8))
    assert infill.as_chat(asked, "$code").temperature == 0
    assert infill.as_chat(replace(asked, fillings=2), "$code").temperature > 0


@pytest.mark.parametrize("answer", ["if item > 0:", "            if item > 0:\n", "```python\nif item > 0:\n```"])
def test_a_filled_hole_is_a_candidate(answer):
    candidate = infill.fill_mask(PROBLEM, USERS, mask(8, 8), answer)
    assert isinstance(candidate, Candidate)
    assert compose(PROBLEM, candidate)["m.py"] == SOURCE.replace("if item >= 0:", "if item > 0:")


def test_a_new_line_has_the_margin_of_the_line_it_comes_before():
    candidate = infill.fill_mask(PROBLEM, USERS, mask(14, 13), "total += 1")
    assert compose(PROBLEM, candidate)["m.py"].endswith("\n\n        total += 1\n        return total\n")


@pytest.mark.parametrize(
    ("answer", "error"), [("", "EmptyHole"), ("\n\n", "EmptyHole"), ("if item > (", "SyntaxError")]
)
def test_rubbish_is_a_finding(answer, error):
    found = infill.fill_mask(PROBLEM, USERS, mask(8, 8), answer)
    assert isinstance(found, Finding)
    assert found.error_class == error


def test_a_long_answer_is_cut_to_the_hole():
    candidate = infill.fill_mask(PROBLEM, USERS, mask(6, 6), "total = 1\n" + "        total += 1\n" * 50_000)
    assert compose(PROBLEM, candidate)["m.py"].count("total += 1") == 1


def test_a_hole_for_a_statement_may_hold_its_block():
    asked = ask(mask(14, 13))
    assert (asked.lines, asked.is_statement, asked.stop, asked.avoid) == (infill.BLOCK, True, (), "")
    guard = "if not total:\n            return None\n        total += 1\n"
    candidate = infill.fill_mask(PROBLEM, USERS, mask(14, 13), guard)
    new = "\n        if not total:\n            return None\n        return total\n"
    assert compose(PROBLEM, candidate)["m.py"].endswith(new)


def test_the_header_of_a_block_stays_a_line():
    asked = ask(mask(8, 8))
    assert (asked.lines, asked.is_statement, asked.avoid) == (1, False, "if item >= 0:")


def test_of_a_long_function_only_what_is_around_the_hole_is_shown():
    body = "".join(f"        total += {number}\n" for number in range(200))
    source = SOURCE.replace("        total = 0\n", f"        total = 0\n{body}")
    region = replace(REGION, end=218)
    problem = replace(PROBLEM, regions=(region,), files={"m.py": source}, originals={"m.py": source})

    def asked(line: int):
        draft = Draft(parent=0, move=Move.INFILL, role=Role.REFINER, masked=Mask(region=region, start=line, end=line))
        return infill.infill_request(problem, USERS, draft, ())

    near = [asked(line).prefix for line in (110, 114)]
    assert near[0].startswith('    def f(self, items):\n        """Sum of all."""\n        # ...\n')
    assert near[1].startswith(near[0].rstrip())  # what is shared comes first
    assert infill.BEFORE <= near[0].count("total +=") < infill.BEFORE + infill.STEP
    assert asked(110).suffix.count("total +=") == infill.AFTER
    assert "# ..." not in asked(8).prefix


def test_holes_of_a_candidate_keep_what_it_brought():
    parent = Attempt(
        number=1,
        verdict=Verdict(status=Status.FAILED),
        candidate=Candidate(
            texts={REGION: "    def f(self, items):\n        return reduce(items)\n"}, imports=("import re",)
        ),
    )
    assert spans(infill.rank_masks(PROBLEM, parent)) == [(2, 2)]
    candidate = infill.fill_mask(PROBLEM, parent, mask(2, 2), "return sum(items)")
    assert candidate.imports == ("import re",)
    assert candidate.texts[REGION] == "    def f(self, items):\n        return sum(items)\n"


TABLE = """import re

TABLE = {
    "a": 1,
    "b": [
        2,
        3,
    ],
    "c": re.compile("x"), "d": 4,
}
"""
TABLE_REGION = Region(path="m.py", qualname="TABLE", start=3, end=10, assigns=True)


def test_holes_in_a_table_are_its_items():
    problem = replace(PROBLEM, regions=(TABLE_REGION,), files={"m.py": TABLE}, originals={"m.py": TABLE})
    assert spans(infill.rank_masks(problem, USERS)) == [(2, 2), (3, 6), (4, 4), (5, 5)]
    short = replace(TABLE_REGION, start=1, end=1)
    assert spans(infill.rank_masks(replace(problem, regions=(short,), files={"m.py": "A = 1\n"}), USERS)) == [(1, 1)]
    filled = infill.fill_mask(problem, USERS, Mask(region=TABLE_REGION, start=2, end=2), '"a": 5,')
    assert isinstance(filled, Candidate)
    assert compose(problem, filled)["m.py"] == TABLE.replace("1,", "5,", 1)


@pytest.mark.parametrize(
    ("masked", "answer", "expected"),
    [
        # A guard around the statement that was masked.
        (3, "if x is None:", "    y = 0\n    if x is None:\n        y = g(x)\n    for z in y:\n        h(z)\n"),
        # A statement before the header that was masked.
        (4, "y = sorted(y)", "    y = 0\n    y = g(x)\n    y = sorted(y)\n    for z in y:\n        h(z)\n"),
        (4, "for z in x:", "    y = 0\n    y = g(x)\n    for z in x:\n        h(z)\n"),
        (4, "# each of them", "    y = 0\n    y = g(x)\n    # each of them\n    for z in y:\n        h(z)\n"),
    ],
)
def test_what_cannot_stand_in_the_hole_is_put_around_or_before_what_stood_there(masked, answer, expected):
    text = "def f(x):\n    y = 0\n    y = g(x)\n    for z in y:\n        h(z)\n"
    region = Region(path="m.py", qualname="f", start=1, end=5)
    problem = replace(PROBLEM, regions=(region,), files={"m.py": text}, originals={"m.py": text})
    found = infill.fill_mask(problem, USERS, Mask(region=region, start=masked, end=masked), answer)
    assert found.texts == {region: f"def f(x):\n{expected}"}
