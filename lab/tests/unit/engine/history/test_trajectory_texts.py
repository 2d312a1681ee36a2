"""Code and problem in words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from greenloop.core.records.model import Message
from greenloop.core.records.spec import Region
from greenloop_lab.engine.history.trajectories import Step, Trajectory
from greenloop_lab.engine.history.trajectory_texts import code_of, problem_of, request_of

F, G = (Region(path="m.py", qualname=name, start=line, end=line) for name, line in (("f", 1), ("g", 3)))
OTHER = Region(path="n.py", qualname="h", start=1, end=1)
RUN = Trajectory(
    id="1",
    source="history",
    root="/w",
    target="test_m.py::test_f",
    model="m",
    preset="p",
    steps=(Step(number=0, feedback="f fails."),),
    names="f",
    code={F: "def f(): return 1\n"},
    suspects={G: "def g(): return 2\n"},
)
STEP = Step(number=1, parent=0, move="draft", code={G: "def g(): return 3"}, added=("import re",))


def test_the_code_of_an_attempt_is_what_it_changes_with_its_imports():
    assert code_of(RUN, STEP) == "import re\n\ndef g(): return 3\n"
    assert code_of(RUN, None) == "def f(): return 1\n"
    assert code_of(RUN, None, [G]) == "def g(): return 2\n"


def test_several_files_have_their_names():
    step = replace(STEP, code={OTHER: "def h(): ...", F: "def f(): ..."}, added=())
    assert code_of(RUN, step) == "# m.py\ndef f(): ...\n\n# n.py\ndef h(): ...\n"


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({}, "Change f so that test_m.py::test_f passes."),
        ({"target": "m.py::f"}, "Write f so that it does what its docstring says."),
        ({"goal": "faster"}, "Change f so that its tests still pass, with this goal: faster."),
        ({"names": "", "code": {}, "target": "mbpp-1"}, "Solve the task mbpp-1."),
        ({"names": "", "code": {}}, "Change the code so that test_m.py::test_f passes."),
    ],
)
def test_the_problem_in_words(changes, sentence):
    assert problem_of(replace(RUN, **changes)).partition("\n")[0] == sentence


def test_the_request_is_the_one_that_was_sent_or_made_of_what_is_known():
    sent = (Message(role="user", content="as sent"),)
    assert request_of(RUN, replace(STEP, messages=sent)) == sent
    (made,) = request_of(RUN, STEP)
    assert made.content == f"{problem_of(RUN)}\n\nf fails."
    run = replace(RUN, steps=(*RUN.steps, replace(STEP, error_class="KeyError"), Step(number=2, parent=1)))
    assert [each.role for each in request_of(run, Step(number=2, parent=1))] == ["user", "assistant", "user"]
    assert request_of(run, Step(number=2, parent=1))[-1].content == "It fails: KeyError."
