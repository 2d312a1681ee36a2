"""The report of a failure: what must pass, how it fails, what may be at fault; it shrinks until it fits."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from failures import failure, frame, raised
from greenloop.core.records.problem import Findings, Problem
from greenloop.core.records.spec import Case, Provenance, Region, Spec
from greenloop.core.text.tokens import estimate_tokens
from greenloop.plugins.conversations.bug_report import MOST_NAMED, write_report
from greenloop_sandbox import CaseResult, Failure

SHOP = (
    'def price(kind):\n    """The price."""\n    return lookup(kind)\n\n\ndef lookup(kind):\n    return RATES[kind]\n'
)
TESTS = "from shop import price\n\nPEN = 'Pen'\n\n\ndef test_price():\n    assert price(PEN) == 19\n"
PRICE = Region(path="shop.py", qualname="price", start=1, end=3)
LOOKUP = Region(path="shop.py", qualname="lookup", start=6, end=7)
CASE = Case(id="test_shop.py::test_price", path="test_shop.py", line=6)
PROBLEM = Problem(
    root=Path("/w"),
    spec=Spec(cases=(CASE,), selectors=(CASE.id,)),
    regions=(LOOKUP,),
    suspects=(PRICE,),
    originals={"shop.py": SHOP, "test_shop.py": TESTS},
    files={"shop.py": SHOP, "test_shop.py": TESTS},
)
FAILED = CaseResult(id=CASE.id, outcome="failed", failure=Failure(type="KeyError", message="'Pen'", text="E KeyError"))
SHOWN = failure(
    raised(
        frame("test_shop.py", 7, "test_price", "assert price(PEN) == 19"),
        frame("shop.py", 7, "lookup", "return RATES[kind]", {"kind": "'Pen'"}),
        kind="KeyError",
        message="'Pen'",
    ),
    case=CASE.id,
)
FINDINGS = Findings(
    problem=PROBLEM,
    cases=(FAILED,),
    inspected={CASE.id: SHOWN},
    reasons={LOOKUP: "raised the exception"},
    versions="Python 3.11.",
)


def report(findings=FINDINGS, room=24_000):
    return write_report(findings, room, estimate_tokens)


def test_a_report_in_its_order():
    text = report()
    parts = [
        "This must pass, and fails every time: `test_shop.py::test_price`.",
        "The tests that must pass, in `test_shop.py`:",
        "    assert price(PEN) == 19",
        "`test_shop.py::test_price` fails so, with the values of locals:",
        "      kind = 'Pen'",
        "KeyError: 'Pen'",
        "Most likely the fault is in one of these; look elsewhere if they are innocent:",
        "- `lookup` (shop.py:6): raised the exception",
        "- `price` (shop.py:1)",
        "`shop.py`, the whole file:",
        "Python 3.11.",
    ]
    assert [part for part in parts if part not in text] == []
    places = [text.index(part) for part in parts]
    assert places == sorted(places)
    assert "PEN = 'Pen'" in text


def test_tests_that_fail_for_the_same_cause_are_named_and_counted():
    siblings = [CaseResult(id=f"test_shop.py::test_{number}", outcome="failed") for number in range(12)]
    text = report(replace(FINDINGS, siblings=siblings))
    assert "seem to fail for the same cause, and must pass too: `test_0`" in text
    assert "`test_7` and 4 more." in text
    assert "test_8" not in text


def test_some_cases_of_many():
    passed = [CaseResult(id=f"test_shop.py::t{number}", outcome="passed") for number in range(3)]
    assert "(1 of 4 cases of the target)" in report(replace(FINDINGS, cases=(FAILED, *passed)))


def test_a_failure_that_was_not_described_is_shown_as_pytest_shows_it():
    text = report(replace(FINDINGS, inspected={}))
    assert "test_shop.py::test_price: KeyError: 'Pen'" in text
    assert "```text\nE KeyError\n```" in text


def test_failures_in_different_places_are_shown_and_equal_ones_once():
    ids = [f"test_shop.py::test_price[{number}]" for number in range(6)]
    other = failure(raised(frame("shop.py", 3, "price", "return lookup(kind)"), kind="TypeError"), case=ids[5])
    inspected = {each: replace(SHOWN, id=each) for each in ids[:5]} | {ids[5]: other}
    cases = tuple(replace(FAILED, id=each) for each in ids)
    text = report(replace(FINDINGS, cases=cases, inspected=inspected))
    assert text.count("fails so, with the values of locals") == 2


def test_what_is_to_be_written_and_a_remark_and_a_limit():
    created = Region(path="shop.py", qualname="tax", start=9, end=10, created=True)
    problem = replace(PROBLEM, regions=(created,), suspects=(), instruction="A comment asks: keep it short", exact=True)
    text = report(replace(FINDINGS, problem=problem))
    assert "It does not exist yet, and is to be written: `tax` in `shop.py`." in text
    assert "A remark: keep it short" in text
    assert "Only tax may change, and what it imports." in text
    assert "No function of the project ran in it" in text


def test_without_any_region_nothing_is_claimed():
    text = report(replace(FINDINGS, problem=replace(PROBLEM, regions=(), suspects=()), reasons={}))
    assert "No function of the project ran in it: look at what the test reads." in text
    assert "Most likely" not in text


def test_examples_of_a_docstring_are_named():
    case = replace(CASE, id="shop.py::price", path="shop.py", provenance=Provenance.DOCTEST, source=">>> price('Pen')")
    problem = replace(PROBLEM, spec=Spec(cases=(case,)))
    text = report(replace(FINDINGS, problem=problem, cases=(replace(FAILED, id=case.id),), inspected={}))
    assert "From the docstring: `>>> price('Pen')`" in text


def large():
    """A module of many functions, all of them suspects, with long values."""
    code = "".join(
        f"def f{number}(x):\n" + "".join(f"    x = x + {row}\n" for row in range(30)) + "    return x\n\n\n"
        for number in range(60)
    )
    regions = tuple(Region(path="m.py", qualname=f"f{n}", start=1 + 34 * n, end=32 + 34 * n) for n in range(60))
    frames = [
        frame("m.py", 5 + 34 * n, f"f{n}", "x = x + 3", {f"v{i}": "y" * 200 for i in range(9)}) for n in range(20)
    ]
    files = {"m.py": code, "test_shop.py": TESTS}
    problem = replace(PROBLEM, regions=regions[:1], suspects=regions[1:], originals=files, files=files)
    return replace(
        FINDINGS,
        problem=problem,
        inspected={CASE.id: failure(raised(*frames), case=CASE.id)},
        reasons={regions[7]: "raised the exception"},
    )


def test_a_report_shrinks_section_by_section_to_its_room():
    findings = large()
    texts = [report(findings, room) for room in (100_000, 4_000, 3_000, 2_000, 1_500, 1_000, 1)]
    tokens = [estimate_tokens(text) for text in texts]
    assert tokens == sorted(tokens, reverse=True)
    assert len(set(texts)) >= 3
    assert "def f0(x):" in texts[0]
    for text in texts:
        assert "This must pass" in text
        assert "`test_shop.py::test_price` fails so" in text
        assert "def f7(x):" in text  # it raised the exception
        assert text.count("```") % 2 == 0


def test_what_raised_the_exception_is_shown_before_more_suspicious_functions():
    text = report(large())
    shown = [number for number in range(60) if f"def f{number}(x):" in text]
    assert shown[0] == 0
    assert 7 in shown
    assert 1 < len(shown) < 30
    assert "These are not shown:\n- `f" in text
    assert text.count("\n- `f") == len(shown) + MOST_NAMED


def test_code_with_fences_stays_in_its_fence():
    code = SHOP.replace('"""The price."""', '"""The price.\n\n    ```\n    price("pen")\n    ```\n    """')
    problem = replace(PROBLEM, files={**PROBLEM.files, "shop.py": code}, regions=(replace(PRICE, end=7),), suspects=())
    text = report(replace(FINDINGS, problem=problem))
    assert "````python\n" in text
