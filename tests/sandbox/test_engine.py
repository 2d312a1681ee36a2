"""Whole requests in the real sandbox with a scripted model: small projects in, outcome and texts out."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from greenloop.api.result_files import may_write
from greenloop.core.errors import CannotVerifyError, SandboxBrokenError, UsageError
from greenloop.core.events import Finished, Started, Tested
from greenloop.core.records.outcome import Outcome, StopReason, Verified
from greenloop.core.records.verdict import Status
from greenloop.engine import refine
from greenloop.engine.history.store import History
from greenloop.project import configuration
from greenloop_lab.engine.history.learning import Export, Wanted
from greenloop_lab.engine.history.steps import stored_trajectories
from greenloop_sandbox import Execution, SandboxPool, selection
from watched_pool import WatchedPool

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(120)]

DOUBLE = "def double(x):\n    return x + 1\n"
TEST = "from m import double\n\n\ndef test_double():\n    assert double(5) == 10\n"


class Play:
    """One request: the project, the script, what was emitted and what came out."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.events: list = []
        self.said: list[str] = []
        self.outcome: Outcome | None = None
        self.pool: SandboxPool | None = None

    async def __call__(
        self, files: dict[str, str | bytes], target: str, *answers: str, buffers=None, **keys
    ) -> Outcome:
        for name, text in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
        script = self.root.parent / "answers.jsonl"
        script.write_text("".join(json.dumps(answer) + "\n" for answer in answers))
        found, warnings = configuration.load(
            self.root,
            command_line={"model": f"scripted:{script}", "preset": "plain", "sandbox.kind": "bubblewrap", **keys},
        )
        assert not warnings
        request = refine.RefineRequest(root=self.root, target=target, buffers=buffers or {})
        self.outcome = await refine.refine(
            request, settings=found, emit=self.events.append, report_status=self.said.append, pool=self.pool
        )
        assert isinstance(self.events[-1], Finished)
        return self.outcome

    @property
    def attempts(self) -> list[tuple[Status, str]]:
        return [
            (event.attempt.verdict.status, event.attempt.error_class)
            for event in self.events
            if isinstance(event, Tested)
        ]

    @property
    def model_calls(self) -> int:
        return len(self.attempts)


@pytest.fixture
def play(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    root = tmp_path / "my project #1"
    root.mkdir()
    return Play(root)


def code(text: str) -> str:
    return f"Here it is:\n```python\n{text}```\n"


RIGHT = code("def double(x):\n    return x * 2\n")
WRONG = code("def double(x):\n    return x * 3\n")


@pytest.mark.story("a red test becomes a verified edit")
async def test_wrong_then_right(play):
    outcome = await play({"m.py": DOUBLE, "test_m.py": TEST}, "test_m.py::test_double", WRONG, RIGHT)
    assert outcome.solved
    assert outcome.verified is Verified.VERIFIED
    assert outcome.after == {"m.py": "def double(x):\n    return x * 2\n"}
    assert play.attempts == [(Status.FAILED, "AssertionError"), (Status.PASSED, "")]
    assert outcome.evidence.proofs == {"test_m.py::test_double": ("apart",)}
    assert (play.root / "m.py").read_text() == DOUBLE


@pytest.mark.parametrize("keep", [True, False])
async def test_what_was_sent_is_kept_and_exported_only_where_you_said_so(play, monkeypatch, keep):
    monkeypatch.setenv("SHOP_API_KEY", "k3y-of-the-shop")
    own = 'def double(x):\n    """Twice x, not k3y-of-the-shop."""\n    return x + 1\n'
    assert (
        await play({"m.py": own, "test_m.py": TEST}, "test_m.py", WRONG, RIGHT, **{"history.messages": keep})
    ).solved
    history = History.open()
    attempts = history.run(1).attempts[1:]
    assert [bool(each.sent.messages) for each in attempts] == [keep, keep]
    assert [list(each.sent.templates) for each in attempts] == [
        ["system", "task", "draft"],
        ["system", "task", "refine"],
    ]
    for kind in ("sft", "trajectory"):
        export = Export(runs=lambda: stored_trajectories(history), wanted=Wanted(kind=kind, verified=True))
        (row,) = export.rows()
        written = json.dumps(row)
        assert ("The tests that must pass" in written) is keep
        assert "return x * 2" in written
        assert "return x + 1" in written
        assert "[redacted]" in written
        assert "k3y-of-the-shop" not in written
    history.close()


async def test_a_keeper_keeps_the_wall_for_the_next_request(play):
    play.pool = SandboxPool()
    files = {"m.py": DOUBLE, "test_m.py": TEST}
    try:
        assert (await play(files, "test_m.py::test_double", code("def double(x):\n    return 2 * x\n"))).solved
        (kept,) = play.pool._idle
        (wall,) = [wall for seed, wall in kept.session._instances.items() if seed == 0]
        assert (await play(files, "test_m.py::test_double", code("def double(x):\n    return x + x\n"))).solved
        assert play.pool._idle[0].session is kept.session
        assert kept.session._instances[0] is wall
    finally:
        await play.pool.close()
    assert not kept.session._instances


@pytest.mark.story("a green test costs nothing")
async def test_already_green_needs_no_model(play):
    good = DOUBLE.replace("x + 1", "x * 2")
    outcome = await play({"m.py": good, "test_m.py": TEST}, "test_m.py::test_double")
    assert outcome.reason is StopReason.ALREADY_GREEN
    assert play.model_calls == 0


@pytest.mark.story("a fault of the environment is named and no model asked")
async def test_a_missing_package_is_named_and_no_token_spent(play):
    test = "import no_such_package_anywhere\n\n\ndef test_a():\n    assert no_such_package_anywhere.x\n"
    project = '[project]\nname = "p"\nversion = "1"\ndependencies = ["no-such-package-anywhere"]\n'
    outcome = await play({"pyproject.toml": project, "test_a.py": test}, "test_a.py::test_a")
    assert outcome.reason is StopReason.ENVIRONMENT
    assert "no_such_package_anywhere" in outcome.message
    assert "python" in outcome.message
    assert play.model_calls == 0


@pytest.mark.story("a flaky test is named")
async def test_a_flaky_test_is_named(play):
    flaky = (
        "import os\n\n\ndef helper():\n    return os.environ.get('PYTHONHASHSEED')\n\n\n"
        "def test_a():\n    assert helper() != '0'\n"
    )
    outcome = await play({"test_a.py": flaky}, "test_a.py::test_a")
    assert outcome.reason is StopReason.ENVIRONMENT
    assert "flaky" in outcome.message


@pytest.mark.story("no other test newly fails")
async def test_a_neighbour_that_breaks_is_not_accepted(play):
    files = {
        "m.py": "def clamp(x, lo, hi):\n    if x < lo:\n        return hi\n    return x\n",
        "test_m.py": (
            "from m import clamp\n\n\ndef test_low():\n    assert clamp(-1, 0, 9) == 0\n\n\n"
            "def test_inside():\n    assert clamp(5, 0, 9) == 5\n"
        ),
    }
    bad = code("def clamp(x, lo, hi):\n    return lo\n")
    good = code("def clamp(x, lo, hi):\n    return max(lo, min(x, hi))\n")
    outcome = await play(files, "test_m.py::test_low", bad, good)
    assert outcome.solved
    assert play.events[-1].outcome.attempts[1].verdict.collateral[0].id == "test_m.py::test_inside"
    assert outcome.evidence.neighbours_unchanged == 1


async def test_neighbours_in_other_files_count_and_old_failures_do_not(play):
    files = {
        "m.py": DOUBLE,
        "test_m.py": TEST,
        "test_other.py": (
            "from m import double\n\n\ndef test_zero():\n    assert double(0) == 0 or double(0) == 1\n\n\n"
            "def test_old():\n    assert double(1) == 99\n"
        ),
    }
    outcome = await play(files, "test_m.py::test_double", RIGHT)
    assert outcome.solved
    assert (outcome.evidence.neighbours_unchanged, outcome.evidence.neighbours_already_failing) == (1, 1)


@pytest.mark.story("a docstring becomes an implementation")
async def test_docstring_examples_without_any_test(play):
    stub = (
        'def rle(s):\n    """Run-length encode s.\n\n    >>> rle("aab")\n    [(\'a\', 2), (\'b\', 1)]\n'
        '    >>> rle("")\n    []\n    """\n    raise NotImplementedError\n'
    )
    wrong = code("def rle(s):\n    return [(c, s.count(c)) for c in s]\n")
    right = code(
        "from itertools import groupby\n\n\ndef rle(s):\n    return [(c, len(list(g))) for c, g in groupby(s)]\n"
    )
    outcome = await play({"runs.py": stub}, "runs.py::rle", wrong, right)
    assert outcome.solved
    assert outcome.verified is Verified.VERIFIED
    assert outcome.evidence.cases == {"doctest": (2, 2)}
    assert "Run-length encode s." in outcome.after["runs.py"]
    assert outcome.after["runs.py"].startswith("from itertools import groupby\n")


@pytest.mark.story("a refusal is a sentence with a remedy")
async def test_a_function_without_any_specification_is_refused_with_the_remedy(play):
    with pytest.raises(CannotVerifyError, match="Nothing says what double should do"):
        await play({"m.py": DOUBLE}, "m.py::double")


@pytest.mark.story("the function that a test reaches is found")
async def test_a_function_is_repaired_by_the_tests_that_reach_it(play):
    outcome = await play({"m.py": DOUBLE, "test_m.py": TEST}, "m.py::double", RIGHT)
    assert outcome.solved
    assert outcome.evidence.cases == {"user": (1, 1)}


@pytest.mark.story("a test can be written before its function", only=("a function",))
@pytest.mark.parametrize(
    ("files", "target", "answer", "path", "word"),
    [
        pytest.param(
            {
                "m.py": "import re\n",
                "test_m.py": "from m import slug\n\n\ndef test_s():\n    assert slug('A b') == 'a-b'\n",
            },
            "test_m.py::test_s",
            "def slug(text):\n    return text.lower().replace(' ', '-')\n",
            "m.py",
            "def slug(text):",
            id="a function",
        ),
        pytest.param(
            {"test_n.py": "from newmod import slug\n\n\ndef test_s():\n    assert slug('A b') == 'a-b'\n"},
            "test_n.py::test_s",
            "def slug(text):\n    return text.lower().replace(' ', '-')\n",
            "newmod.py",
            "def slug(text):",
            id="a module",
        ),
        pytest.param(
            {
                "m.py": "class Cart:\n    def __init__(self):\n        self.items = [1, 2]\n",
                "test_m.py": "from m import Cart\n\n\ndef test_t():\n    assert Cart().total() == 3\n",
            },
            "test_m.py::test_t",
            "def total(self):\n    return sum(self.items)\n",
            "m.py",
            "    def total(self):",
            id="a method",
        ),
    ],
)
async def test_test_first(play, files, target, answer, path, word):
    outcome = await play(files, target, code(answer))
    assert outcome.solved, outcome.message
    assert word in outcome.after[path]
    assert "NotImplementedError" not in outcome.after[path]
    assert outcome.before[path] == files.get(path)


async def test_unsaved_text_wins_over_the_disk_and_the_disk_stays(play):
    typed = DOUBLE.replace("x + 1", "x * 2")
    outcome = await play(
        {"m.py": DOUBLE, "test_m.py": TEST}, "test_m.py::test_double", buffers={"m.py": typed.encode()}
    )
    assert outcome.reason is StopReason.ALREADY_GREEN
    unsaved = TEST.replace("10", "15").encode()
    outcome = await play({}, "test_m.py::test_double", WRONG, buffers={"test_m.py": unsaved})
    assert outcome.solved
    assert (play.root / "test_m.py").read_text() == TEST


@pytest.mark.story("everything else of the text stays", only=("crlf",))
@pytest.mark.parametrize(
    ("source", "after"),
    [
        (b"def double(x):\r\n    return x + 1\r\n", b"def double(x):\r\n    return x * 2\r\n"),
        (b"def double(x):\n\treturn x + 1\n", b"def double(x):\n\treturn x * 2\n"),
        (b"\xef\xbb\xbfdef double(x):\n    return x + 1\n", b"def double(x):\n    return x * 2\n"),
        (
            b"# -*- coding: latin-1 -*-\n# caf\xe9\ndef double(x):\n    return x + 1\n",
            "# -*- coding: latin-1 -*-\n# café\ndef double(x):\n    return x * 2\n".encode("latin-1"),
        ),
        (b"def double(x):\n    return x + 1", b"def double(x):\n    return x * 2"),
    ],
    ids=["crlf", "tabs", "bom", "latin-1", "no final newline"],
)
async def test_line_ends_indentation_and_encoding_stay(play, source, after):
    outcome = await play({"m.py": source, "test_m.py": TEST}, "test_m.py::test_double", RIGHT)
    assert outcome.solved, outcome.message
    encoding = "latin-1" if b"latin-1" in source else "utf-8"
    assert outcome.after["m.py"].removeprefix("\ufeff").encode(encoding) == after


FAKES = {
    "exit": "import os\n\n\ndef double(x):\n    os._exit(0)\n",
    "skip": "import pytest\n\n\ndef double(x):\n    pytest.skip('no')\n",
}


@pytest.mark.parametrize("fake", FAKES)
async def test_a_faked_pass_is_named_tampering(play, fake):
    outcome = await play({"m.py": DOUBLE, "test_m.py": TEST}, "test_m.py::test_double", code(FAKES[fake]), RIGHT)
    assert outcome.solved
    assert play.attempts[0][0] is Status.TAMPERED
    assert outcome.best == 2


async def test_what_is_proven_apart_is_counted(play):
    outcome = await play({"m.py": DOUBLE, "test_m.py": TEST}, "test_m.py::test_double", RIGHT)
    assert outcome.evidence.proofs == {"test_m.py::test_double": ("apart",)}
    assert outcome.message.endswith("proven apart 1/1.")


RAISING = """import unittest

import pytest
from m import double


def test_double():
    with pytest.raises(TypeError):
        double(None, 1)


class TestUnit(unittest.TestCase):
    def test_double(self):
        with self.assertRaises(ValueError):
            double("x")
"""
CHECKED = "def double(x):\n    if isinstance(x, str):\n        raise ValueError(x)\n    return x * 2\n"
SWALLOWS = """import unittest.case


def double(x):
    unittest.case._AssertRaisesContext.__exit__.__code__ = (lambda self, kind, error, trace: True).__code__
    return x
"""


async def test_an_expected_exception_is_proven_apart(play):
    outcome = await play({"m.py": DOUBLE, "test_m.py": RAISING}, "test_m.py::TestUnit", code(CHECKED))
    assert outcome.solved, outcome.message
    assert outcome.evidence.proofs == {"test_m.py::TestUnit::test_double": ("apart",)}


ALWAYS_EQUAL = "class Yes:\n    def __eq__(self, other):\n        return True\n\n\ndef double(x):\n    return Yes()\n"


@pytest.mark.story("a faked pass is named", only=("always equal",))
@pytest.mark.parametrize(
    ("tests", "target", "case", "fake"),
    [
        (TEST, "test_m.py::test_double", "test_m.py::test_double", ALWAYS_EQUAL),
        (RAISING, "test_m.py::TestUnit", "test_m.py::TestUnit::test_double", SWALLOWS),
    ],
    ids=["always equal", "swallowed by unittest"],
)
async def test_a_pass_that_only_one_process_makes_possible_is_not_verified(play, tests, target, case, fake):
    outcome = await play({"m.py": DOUBLE, "test_m.py": tests}, target, code(fake))
    assert outcome.verified is Verified.PARTIALLY
    assert (outcome.evidence.proofs, list(outcome.evidence.unproven)) == ({}, [case])
    assert "apart it fails with AssertionError" in outcome.message


async def test_an_endless_loop_is_a_failed_attempt(play):
    endless = code("def double(x):\n    while True:\n        pass\n")
    outcome = await play(
        {"m.py": DOUBLE, "test_m.py": TEST}, "test_m.py::test_double", endless, RIGHT, **{"sandbox.seconds": 2}
    )
    assert outcome.solved
    assert play.attempts[0] == (Status.TIMEOUT, "Timeout")


async def test_unknown_test_names_the_nearest(play):
    with pytest.raises(UsageError) as caught:
        await play({"m.py": DOUBLE, "test_m.py": TEST}, "test_m.py::test_duble")
    assert "test_m.py::test_double" in caught.value.remedy


async def test_a_file_that_cannot_be_collected_is_named(play):
    with pytest.raises(CannotVerifyError, match="ZeroDivisionError"):
        await play({"test_z.py": "1 / 0\n\n\ndef test_a():\n    pass\n"}, "test_z.py::test_a")


async def test_a_pytest_that_breaks_down_is_named(play):
    conftest = "def pytest_configure(config):\n    raise RuntimeError('no such database')\n"
    with pytest.raises(CannotVerifyError, match="no such database"):
        await play({"conftest.py": conftest, "m.py": DOUBLE, "test_m.py": TEST}, "test_m.py::test_double")


@pytest.mark.story("execution decides")
async def test_tests_changed_during_the_run_are_never_a_pass(play):
    async def change_afterwards(session, run):
        execution = await session.run(run)
        if b"x * 2" in run.files.get("m.py", b""):  # the candidate
            (play.root / "test_m.py").write_text(TEST.replace("10", "11"))
        return execution

    play.pool = WatchedPool(change_afterwards)
    outcome = await play({"m.py": DOUBLE, "test_m.py": TEST}, "test_m.py::test_double", RIGHT)
    assert (outcome.solved, outcome.reason) == (False, StopReason.CHANGED)
    assert "changed during the run" in outcome.message
    await play.pool.close()


@pytest.mark.story("secrets never reach the model")
async def test_secrets_never_reach_the_model(play):
    files = {
        ".env": "API_TOKEN=tok-1234567890abcdef\n",
        "m.py": DOUBLE,
        "test_m.py": TEST + "\n\nprint('tok-1234567890abcdef')  # leaked into the output\n",
    }
    await play(files, "test_m.py::test_double", WRONG, RIGHT)
    started = next(event for event in play.events if isinstance(event, Started))
    told = json.dumps([note.text for a in play.outcome.attempts for note in a.notes]) + started.model
    assert "tok-1234567890abcdef" not in told


async def test_every_step_says_what_goes_on(play):
    await play({"m.py": DOUBLE, "test_m.py": TEST}, "test_m.py::test_double", RIGHT)
    assert any("sandbox" in text for text in play.said)
    assert any("related tests" in text for text in play.said)
    assert replace(play.outcome).run is not None


async def test_without_a_wall_every_result_says_so(play):
    bare = {"sandbox.kind": "none", "sandbox.unsafe": True}
    solved = await play({"m.py": DOUBLE, "test_m.py": TEST}, "test_m.py::test_double", RIGHT, **bare)
    assert solved.message.startswith("Not verified because there is no sandbox: ")
    assert not may_write(solved, ())
    unsolved = await play({}, "test_m.py::test_double", WRONG, attempts=1, **bare)
    assert not unsolved.solved
    assert "The tests ran without a sandbox." in unsolved.message
    green = await play({"m.py": DOUBLE.replace("x + 1", "x * 2")}, "test_m.py::test_double", **bare)
    assert (green.reason, green.verified) == (StopReason.ALREADY_GREEN, Verified.UNVERIFIED)
    assert green.evidence.sandbox == "none"


async def test_with_the_network_on_every_result_says_so(play):
    outcome = await play(
        {"m.py": DOUBLE, "test_m.py": TEST}, "test_m.py::test_double", RIGHT, **{"sandbox.network": True}
    )
    assert outcome.evidence.network
    assert "in bubblewrap with network access" in outcome.message
    green = await play(
        {"m.py": DOUBLE.replace("x + 1", "x * 2")}, "test_m.py::test_double", **{"sandbox.network": True}
    )
    assert "The tests had network access." in green.message


@pytest.mark.story("a refusal is a sentence with a remedy", only=("candidate",))
@pytest.mark.parametrize("when", ["baseline", "candidate"])
async def test_a_wall_that_breaks_in_the_middle_names_the_other_one(play, monkeypatch, when):
    tested = selection._make_tested

    async def both(kind, *rest, **more):
        return None if kind == "docker" else await tested(kind, *rest, **more)

    async def breaks(session, run):
        return Execution(broken="It fell over.") if run.baseline is (when == "baseline") else await session.run(run)

    monkeypatch.setattr(selection, "_make_tested", both)
    play.pool = WatchedPool(breaks)
    files, case = {"m.py": DOUBLE, "test_m.py": TEST}, "test_m.py::test_double"
    if when == "baseline":
        with pytest.raises(SandboxBrokenError) as caught:
            await play(files, case, RIGHT)
        told = f"{caught.value} {caught.value.remedy}"
    else:
        outcome = await play(files, case, RIGHT)
        assert (outcome.solved, outcome.reason) == (False, StopReason.ENVIRONMENT)
        told = outcome.message
    assert "The sandbox failed: It fell over." in told
    assert "docker works here: set sandbox.kind = docker (or --sandbox docker)." in told
    await play.pool.close()


async def test_a_case_that_never_ends_takes_no_time_from_its_neighbours(play):
    play.pool = SandboxPool()
    loops = "def double(x):\n    while x == 5:\n        pass\n    return 2 * x\n"
    tests = TEST + "\n\ndef test_other():\n    assert double(1) == 2\n"
    try:
        outcome = await play(
            {"m.py": loops, "test_m.py": tests},
            "test_m.py::test_double",
            code("def double(x):\n    return 2 * x\n"),
            **{"sandbox.seconds": 2.0},
        )
    finally:
        await play.pool.close()
    assert outcome.solved
    assert (outcome.evidence.neighbours_unchanged, outcome.evidence.neighbours_left_out) == (1, 0)
