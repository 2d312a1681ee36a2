"""Prompts: stable prefix, budget, what must stay."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from greenloop.core.records.attempt import Attempt, Candidate, Draft, FeedbackNote, Move
from greenloop.core.records.model import Role
from greenloop.core.records.problem import Excerpt, Problem
from greenloop.core.records.spec import Region, Spec
from greenloop.core.records.verdict import Status, Verdict
from greenloop.core.text.tokens import estimate_tokens, truncate
from greenloop.drafting.prompt import assemble, fenced, fit, list_failures

REGION = Region(path="m.py", qualname="f", start=1, end=2)
PROBLEM = Problem(
    root=Path("/w"),
    spec=Spec(cases=(), selectors=()),
    regions=(REGION,),
    originals={"m.py": "def f():\n    pass\n"},
    files={"m.py": "def f():\n    pass\n"},
)
TEMPLATES = {
    "system": "SYSTEM",
    "task": "TASK $names\n$instruction\n$context",
    "draft": "DRAFT $feedback",
    "refine": "REFINE $feedback\n$tried",
    "restart": "RESTART $tried\n$feedback",
}
EXCERPTS = (
    Excerpt(title="m.py", text="def f():\n    pass", value=1.0),
    Excerpt(title="callers", text="g()\n" * 30, value=0.2),
    Excerpt(title="test", text="assert f() == 1", value=0.9),
)


def attempt(number: int, error: str = "AssertionError") -> Attempt:
    candidate = Candidate(texts={REGION: f"def f():\n    return {number}\n"}) if number else None
    return Attempt(
        number=number,
        verdict=Verdict(status=Status.FAILED),
        candidate=candidate,
        error_class=error,
        notes=(FeedbackNote(text=f"error of {number}"),),
    )


def build(attempts, draft, budget=1000):
    return assemble(TEMPLATES, PROBLEM, EXCERPTS, attempts, draft, budget=budget, count=lambda text: len(text) // 3)


def draft(parent: int, move: Move) -> Draft:
    return Draft(parent=parent, move=move, role=Role.REFINER)


def test_a_refinement_shows_the_parent_as_the_models_own_answer_and_its_error_last():
    attempts = [attempt(0), attempt(1), attempt(2, "TypeError")]
    messages = build(attempts, draft(1, Move.REFINE))
    assert [message.role for message in messages] == ["system", "user", "assistant", "user"]
    assert "return 1" in messages[2].content
    assert "error of 1" in messages[3].content
    assert "attempt 2: TypeError" in messages[3].content


def test_a_restart_names_what_failed_and_hides_the_failing_code():
    messages = build([attempt(0), attempt(1), attempt(2)], draft(0, Move.RESTART))
    text = "\n".join(message.content for message in messages)
    assert "attempts 1, 2: AssertionError" in text
    assert "return 1" not in text


def test_the_task_is_the_same_for_every_refinement():
    attempts = [attempt(0), attempt(1), attempt(2), attempt(3)]
    prefixes = {build(attempts, draft(parent, Move.REFINE))[:2] for parent in (1, 2, 3)}
    assert len(prefixes) == 1


def test_the_least_valuable_excerpt_goes_first_and_the_budget_holds():
    attempts = [attempt(0)]
    long = build(attempts, draft(0, Move.DRAFT))
    short = build(attempts, draft(0, Move.DRAFT), budget=60)
    assert "callers" in long[1].content
    assert "callers" not in short[1].content
    assert "assert f() == 1" in short[1].content
    assert sum(len(message.content) // 3 for message in short) <= 62


@pytest.mark.parametrize("room", [5, 20, 80])
def test_ten_attempts_with_long_tracebacks_stay_within_the_budget(room):
    note = FeedbackNote(text="\n".join(f"frame {n}" for n in range(400)) + "\nValueError: last line")
    attempts = [attempt(0)] + [
        Attempt(
            number=n,
            verdict=Verdict(status=Status.FAILED),
            candidate=attempt(n).candidate,
            notes=(note,),
            error_class="E",
        )
        for n in range(1, 11)
    ]
    budget = 300 + room
    messages = build(attempts, draft(10, Move.REFINE), budget=budget)
    assert sum(len(message.content) // 3 for message in messages) <= budget
    assert "ValueError: last line" in messages[-1].content


COUNTS = {
    "estimate": estimate_tokens,
    "characters": len,
    "thirds": lambda text: len(text) // 3,
    "words": lambda t: len(t.split()),
}
ROOT = Path(__file__).resolve().parents[3]
OWN, LABORATORY = ("system", "task", "draft", "refine", "restart"), ("compare", "reflection", "strategy")
REAL = {
    **{name: (ROOT / f"server/greenloop/drafting/prompts/default/{name}.txt").read_text() for name in OWN},
    **{name: (ROOT / f"lab/greenloop_lab/prompts/default/{name}.txt").read_text() for name in LABORATORY},
}


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("name", ["draft", "refine", "restart", "compare", "reflection", "strategy"])
@pytest.mark.parametrize("many", [10, 60])
def test_whatever_is_long_the_budget_holds_and_spec_and_newest_error_are_there(count, name, many):
    frames = "\n".join(f"  File 'm.py', line {n}, in f" for n in range(4000))
    attempts = [attempt(0)] + [
        replace(
            attempt(n, f"Error{n}"),
            candidate=Candidate(texts={REGION: "def f():\n" + "    x = 1\n" * 3000}),
            verdict=Verdict(status=Status.FAILED, reason=f"reason {n} " * 2000),
            notes=(FeedbackNote(text=f"{frames}\nValueError: newest"),),
        )
        for n in range(1, many + 1)
    ]
    excerpts = (
        Excerpt(title="SOURCE", text="def f():\n" + "    x = 1\n" * 3000, value=1.0, own=True),
        Excerpt(title="BESIDE", text="y = 1\n" * 3000, value=0.6),
        Excerpt(title="TESTS", text="def test_f():\n    assert f() == 1\n" + "# more\n" * 3000, value=0.9),
    )
    move = Move(name) if name in ("draft", "refine", "restart") else Move.DRAFT if name == "strategy" else Move.REFINE
    asked = Draft(
        parent=many,
        move=move,
        role=Role.REFINER,
        hint="a hint " * 3000,
        prompt="" if move.value == name else name,
    )
    measure = COUNTS[count]
    budget = measure("word " * 2600)
    problem = replace(PROBLEM, instruction="Do it well. " * 5000)
    messages = assemble(REAL, problem, excerpts, attempts, asked, budget=budget, count=measure)
    assert sum(measure(message.content) for message in messages) <= budget
    text = "\n".join(message.content for message in messages)
    assert "ValueError: newest" in text
    assert "SOURCE" in text
    assert "TESTS" in text
    assert "assert f() == 1" in text
    assert "BESIDE" not in text


def test_older_attempts_are_one_line_each():
    verdict = Verdict(status=Status.FAILED, reason="it\ndid\nthis " * 500)
    attempts = [replace(attempt(n, f"Error{n}"), verdict=verdict) for n in range(11)]
    rows = list_failures(attempts, except_number=10).split("\n")
    assert [row.partition(":")[0] for row in rows] == [f"- attempt {n}" for n in range(2, 10)]
    assert all(len(row) < 160 for row in rows)


def test_failures_of_one_kind_share_a_line():
    attempts = [attempt(n, "KeyError" if n % 2 else "Timeout") for n in range(20)]
    assert list_failures(attempts[:5], except_number=None) == "- attempts 1, 3: KeyError\n- attempts 2, 4: Timeout"
    assert list_failures(attempts, except_number=19) == "- 9 attempts: KeyError\n- 9 attempts: Timeout"


def test_filled_holes_and_one_token_changes_are_not_told():
    cheap = [
        replace(attempt(n, "NoGain"), draft=Draft(parent=0, move=move, role=Role.REFINER))
        for n, move in ((1, Move.MUTATE), (2, Move.INFILL))
    ]
    assert list_failures([attempt(0), *cheap, attempt(3)], except_number=None) == "- attempt 3: AssertionError"


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("text", ["x" * 10_000_000, "ab \n" * 2_500_000, "\n" * 10_000_000])
def test_ten_megabytes_are_cut_after_a_bounded_number_of_characters_was_counted(count, text):
    counted = 0

    def counting(part: str) -> int:
        nonlocal counted
        counted += len(part)
        return COUNTS[count](part)

    assert COUNTS[count](truncate(text, 300, counting)) <= 300
    assert counted < 400_000


def test_a_missing_variable_is_an_error():
    with pytest.raises(KeyError):
        assemble(
            {**TEMPLATES, "task": "$nothing"},
            PROBLEM,
            EXCERPTS,
            [attempt(0)],
            draft(0, Move.DRAFT),
            budget=100,
            count=len,
        )


def test_fences_are_longer_than_what_they_hold():
    assert fenced("a ``` b").startswith("````python")


def test_cut_keeps_head_and_tail():
    text = truncate("\n".join(map(str, range(100))), 30, lambda text: len(text) // 3)
    assert text.startswith("0\n")
    assert text.endswith("99")
    assert "left out" in text


def test_nothing_fits_in_no_room():
    assert len(fit(EXCERPTS, 5, len)) <= 40


CODE = Excerpt(title="code", text="def f():\n" + "".join(f"    x{n} = {n}\n" for n in range(3000)), value=1.0)
SPEC = Excerpt(title="spec", text="def test_f():\n    assert f() == 1", value=0.9)
ASIDE = Excerpt(title="aside", text="def g():\n    pass\n" * 20, value=0.4)


def thirds(text):
    return len(text) // 3


@pytest.mark.parametrize("room", [100, 400, 2000])
def test_a_function_of_3000_lines_leaves_room_for_the_tests(room):
    text = fit([ASIDE, CODE, SPEC], room, thirds)
    assert thirds(text) <= room
    assert SPEC.text in text
    assert text.index("def f():") < text.index("lines left out")
    assert "def g():" not in text


def test_what_another_excerpt_says_is_said_again_only_where_that_one_is_cut():
    shown = ">>> f()\n1\n>>> f(2)\n3"
    code = Excerpt(
        title="code",
        text='def f():\n    """Doc.\n\n    >>> f()\n    1\n    >>> f(2)\n    3\n    """\n' + CODE.text[9:],
        value=1.0,
    )
    examples = Excerpt(title="examples", text=shown, value=0.95)
    assert "examples" not in fit([code, examples, SPEC], 100_000, thirds)
    assert shown in fit([code, examples, SPEC], 150, thirds)


def test_a_title_alone_is_a_line():
    assert fit([Excerpt(title="Python 3.11.", text="", value=0.5), SPEC], 100, thirds).startswith(
        "Python 3.11.\n\nspec\n"
    )


@pytest.mark.parametrize("budget", [260, 1000])
def test_every_prompt_of_a_run_begins_with_the_same_task(budget):
    """However long the tail is: what a provider or the embedded model has read once it need not read again."""
    long = FeedbackNote(text="\n".join(f"frame {n} of a long traceback" for n in range(300)))
    attempts = [attempt(0), *(replace(attempt(n), notes=(long,) * (n % 2)) for n in range(1, 6))]
    moves = [draft(0, Move.DRAFT), draft(0, Move.RESTART), *(draft(n, Move.REFINE) for n in (1, 2, 5))]
    texts = ["\n".join(message.content for message in build(attempts, move, budget=budget)) for move in moves]
    end = texts[0].index(EXCERPTS[2].text) + len(EXCERPTS[2].text)
    assert EXCERPTS[0].text in texts[0][:end]
    assert {text[:end] for text in texts} == {texts[0][:end]}


@pytest.mark.parametrize("text", ["x" * 10_000_000, "line\n" * 2_000_000, " " * 10_000_000])
def test_ten_megabytes_are_not_counted(text):
    counted = 0

    def count(part):
        nonlocal counted
        counted += len(part)
        return len(part) // 4

    assert len(truncate(text, 300, count)) <= 1200
    assert counted < 500_000


def test_a_new_beginning_does_not_show_the_failing_code():
    excerpts = (Excerpt(title="code", text="def f():\n    return 7", value=1.0, own=True, bare="def f():\n    ..."),)

    def told(move):
        messages = assemble(
            TEMPLATES, PROBLEM, excerpts, [attempt(0)], draft(0, move), budget=1000, count=lambda text: len(text) // 3
        )
        return messages[1].content

    assert "return 7" in told(Move.DRAFT)
    assert "return 7" not in told(Move.RESTART)
    assert "def f():\n    ..." in told(Move.RESTART)
