"""What is known of the user's own code before a candidate is judged by it, and which other tests have to run again.

Whole requests in the real sandbox with a scripted model.
"""

from __future__ import annotations

import json

import pytest

from greenloop.core.events import Finished, Offered, Tested
from greenloop.core.records.outcome import Outcome, Verified
from greenloop.core.records.verdict import Status
from greenloop.engine import refine
from greenloop.project import configuration
from greenloop.verdict.beyond_tests.noticed import MUTANT_SECONDS
from greenloop.wording.outcome import describe_related
from greenloop_sandbox import Execution, Session, TestRun, payload
from project_files import write_files
from watched_pool import WatchedPool

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(180)]


@pytest.fixture
def play(tmp_path, monkeypatch):
    """`play(files, target, *answers, **settings)`: the outcome, its events and the seconds of the runs that hung."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))

    async def run(files, target, *answers, **keys) -> tuple[Outcome, list, float]:
        root = tmp_path / "work"
        root.mkdir(exist_ok=True)
        write_files(root, files)
        script = tmp_path / "answers.jsonl"
        script.write_text("".join(json.dumps(f"```python\n{answer}```\n") + "\n" for answer in answers))
        chosen = {"model": f"scripted:{script}", "preset": "plain", "sandbox.kind": "bubblewrap", **keys}
        found, warnings = configuration.load(root, command_line=chosen)
        assert not warnings
        events: list = []
        hung = 0.0

        async def run_and_count(session: Session, test_run: TestRun) -> Execution:
            nonlocal hung
            execution = await session.run(test_run)
            hung += execution.seconds if execution.killed == "timeout" else 0.0
            return execution

        pool = WatchedPool(run_and_count)
        outcome = await refine.refine(
            refine.RefineRequest(root=root, target=target), settings=found, emit=events.append, pool=pool
        )
        await pool.close()
        assert isinstance(events[-1], Finished)
        return outcome, events, hung

    return run


# -- code that hangs ---------------------------------------------------------------------------------------------

HANGS = "def collatz(n):\n    steps = 0\n    while n != 1:\n        steps += 1\n    return steps\n"
STEPS = "def collatz(n):\n    steps = 0\n    while n != 1:\n        n = n // 2 if n % 2 == 0 else 3 * n + 1\n        steps += 1\n    return steps\n"
NINE = (
    "import pytest\n\nfrom m import collatz\n\n\n"
    "@pytest.mark.parametrize(('n', 'steps'), [(1, 0), (2, 1), (3, 7), (4, 2), (5, 5), (6, 8), (7, 16), (8, 3), (9, 19)])\n"
    "def test_collatz(n, steps):\n    assert collatz(n) == steps\n"
)


async def test_code_that_hangs_in_eight_of_nine_cases_costs_seconds_and_is_verified(play):
    limit = 2.0
    outcome, _events, hung = await play(
        {"m.py": HANGS, "test_m.py": NINE}, "test_m.py::test_collatz", STEPS, **{"sandbox.seconds": limit}
    )
    assert outcome.solved
    assert (outcome.evidence.cases["user"], outcome.evidence.neighbours_left_out) == ((9, 9), 0), outcome.message
    assert outcome.verified is Verified.VERIFIED
    assert (
        0 < hung < (3 * limit + MUTANT_SECONDS + 1) * payload.protocol().load()
    )  # one run without any care hangs for eight times the limit


async def test_other_tests_of_code_that_hangs_are_no_reason_to_doubt(play):
    """They hang too, or were never reached; with the right code all of them pass."""
    limit = 2.0
    others = NINE + "".join(
        f"\n\ndef test_other_{n}():\n    assert collatz({n}) == {s}\n" for n, s in [(1, 0), (16, 4), (32, 5)]
    )
    outcome, _events, hung = await play(
        {"m.py": HANGS, "test_m.py": others}, "test_m.py::test_collatz", STEPS, **{"sandbox.seconds": limit}
    )
    assert outcome.verified is Verified.VERIFIED, outcome.message
    assert outcome.evidence.neighbours_left_out == 0
    assert 0 < hung < (4 * limit + MUTANT_SECONDS + 1) * payload.protocol().load()


# -- tests that skip themselves ----------------------------------------------------------------------------------

SKIPS = (
    "import pytest\n\nfrom m import collatz\n\n\n"
    "@pytest.mark.parametrize(('n', 'steps'), [(1, 0), (2, 1), (3, 7), (4, 2), (5, 5)])\n"
    "def test_collatz(n, steps):\n"
    "    if n == 4:\n        pytest.skip('four is boring')\n"
    "    assert collatz(n) == steps\n"
)


async def test_a_case_that_skips_itself_behind_one_that_hangs_is_no_tampering(play):
    outcome, events, _hung = await play(
        {"m.py": HANGS, "test_m.py": SKIPS}, "test_m.py::test_collatz", STEPS, **{"sandbox.seconds": 2.0}
    )
    tested = [event.attempt.verdict for event in events if isinstance(event, Tested)]
    assert [verdict.status for verdict in tested] == [Status.PASSED], tested[0].reason
    assert outcome.verified is Verified.VERIFIED, outcome.message


async def test_a_skip_of_the_candidate_is_still_tampering(play):
    skips = "def collatz(n):\n    import pytest\n    if n > 2:\n        pytest.skip('too hard')\n    return n - 1\n"
    outcome, events, _hung = await play(
        {"m.py": HANGS, "test_m.py": SKIPS}, "test_m.py::test_collatz", skips, attempts=1, **{"sandbox.seconds": 2.0}
    )
    assert not outcome.solved
    (attempt,) = [event.attempt for event in events if isinstance(event, Tested)]
    assert attempt.verdict.status is not Status.PASSED


# -- slow suites -------------------------------------------------------------------------------------------------


def slow_suite(count: int, seconds: float) -> dict[str, str]:
    """A module with two functions: few tests reach the broken one, many slow ones only the other."""
    module = "def double(x):\n    return x + 1\n\n\ndef half(x):\n    return x / 2\n"
    target = "from m import double\n\n\ndef test_double():\n    assert double(5) == 10\n\n\ndef test_zero():\n    assert double(1) == 2\n"
    many = (
        "import time\n\nimport pytest\n\nfrom m import half\n\n\n"
        f"@pytest.mark.parametrize('n', range({count}))\n"
        f"def test_half(n):\n    time.sleep({seconds})\n    assert half(2 * n) == n\n"
    )
    return {"m.py": module, "test_m.py": target, "test_slow.py": many}


DOUBLE = "def double(x):\n    return x * 2\n"


async def test_tests_that_never_reach_the_changed_function_are_not_affected(play):
    outcome, _events, _hung = await play(slow_suite(20, 0.02), "test_m.py::test_double", DOUBLE)
    evidence = outcome.evidence
    assert outcome.verified is Verified.VERIFIED
    assert (evidence.neighbours_unchanged, evidence.neighbours_not_affected, evidence.neighbours_left_out) == (1, 20, 0)
    assert "20 not affected" in describe_related(evidence)
    assert "20 not affected" in outcome.message


async def test_a_suite_for_which_the_time_does_not_suffice_is_gone_through_in_the_end(play):
    """The trace ends in its limit; what it did not get to is run with the candidate."""
    outcome, _events, _hung = await play(
        slow_suite(80, 0.1), "test_m.py::test_double", DOUBLE, **{"suite.seconds": 7.0}
    )
    assert outcome.evidence.neighbours_left_out == 0, outcome.message
    assert outcome.verified is Verified.VERIFIED


def slow_affected(late: str) -> dict[str, str]:
    """A module with slow related tests that reach the broken function; the `late` ones come in the last file."""
    slow = "import time\n\nimport pytest\n\nfrom m import double\n\n\n@pytest.mark.parametrize('n', range(9))\n"
    slow += "def test_slow(n):\n    time.sleep(0.7)\n    assert double(1) == 2\n"
    files = slow_suite(1, 0.0)
    return {**files, "test_a.py": slow, "test_b.py": slow, "test_zlate.py": f"from m import double\n\n\n{late}"}


async def test_a_result_is_offered_before_slow_related_tests_have_run_and_its_label_rises(play):
    outcome, events, _hung = await play(slow_affected(""), "test_m.py::test_double", DOUBLE)
    offered = next(event.outcome for event in events if isinstance(event, Offered))
    assert (offered.verified, offered.after) == (Verified.PARTIALLY, outcome.after)
    assert offered.evidence.neighbours_left_out > 0
    assert (outcome.verified, outcome.evidence.neighbours_left_out) == (Verified.VERIFIED, 0)


async def test_an_offer_is_taken_back_where_a_slow_related_test_fails(play):
    late = "def test_late():\n    import time\n\n    time.sleep(0.7)\n    assert double(100) == 101\n"
    outcome, events, _hung = await play(slow_affected(late), "test_m.py::test_double", DOUBLE)
    assert any(isinstance(event, Offered) for event in events)
    (refused,) = [event.attempt for event in events if isinstance(event, Tested) and event.attempt.number == 1]
    assert (refused.refused, outcome.solved) == (True, False)
    assert "test_zlate.py::test_late" in refused.verdict.reason


# -- what a trace cannot see -------------------------------------------------------------------------------------

RATE = "def rate(x):\n    return x + 1\n\n\ndef other(x):\n    return x\n"
RATE_TEST = "from m import rate\n\n\ndef test_rate():\n    assert rate(5) == 10\n"
# It satisfies the target and changes what the function gives for 1.
ELSE = "def rate(x):\n    return 10 if x > 3 else x + 7\n"
HIDDEN = {
    "at import": "from m import rate\n\nFIXED = rate(1)\n\n\ndef test_fixed():\n    assert FIXED == 2\n",
    "in a parameter": (
        "import pytest\n\nfrom m import rate\n\n\n@pytest.mark.parametrize('value', [rate(1)])\n"
        "def test_value(value):\n    assert value == 2\n"
    ),
    "in a fixture of the session": (
        "import pytest\n\nfrom m import rate\n\n\n@pytest.fixture(scope='session')\ndef one():\n    return rate(1)\n\n\n"
        "def test_first(one):\n    pass\n\n\ndef test_second(one):\n    assert one == 2\n"
    ),
    "in a fixture of the module": (
        "import pytest\n\nfrom m import rate\n\n\n@pytest.fixture(scope='module')\ndef one():\n    return rate(1)\n\n\n"
        "def test_first(one):\n    pass\n\n\ndef test_second(one):\n    assert one == 2\n"
    ),
    "in a cache": (
        "import functools\n\nfrom m import rate\n\n\n@functools.lru_cache\ndef kept(x):\n    return rate(x)\n\n\n"
        "def test_first():\n    kept(1)\n\n\ndef test_second():\n    assert kept(1) == 2\n"
    ),
    "in another process": (
        "import subprocess\nimport sys\n\nimport m\n\n\ndef test_process():\n"
        "    shown = subprocess.run([sys.executable, '-c', 'import m; print(m.rate(1))'], capture_output=True, text=True)\n"
        "    assert shown.stdout == '2\\n', shown.stderr\n"
    ),
    "in a thread of its own": (
        "import threading\n\nfrom m import rate\n\n\ndef test_thread():\n    found = []\n"
        "    thread = threading.Thread(target=lambda: found.append(rate(1)))\n    thread.start()\n    thread.join()\n"
        "    assert found == [2]\n"
    ),
    "under a profiler": (
        "import sys\n\nfrom m import rate\n\n\ndef test_profiled():\n    sys.setprofile(None)\n    assert rate(1) == 2\n"
    ),
    "in a teardown": (
        "import pytest\n\nfrom m import rate\n\n\n@pytest.fixture\ndef after():\n    yield\n    assert rate(1) == 2\n\n\n"
        "def test_after(after):\n    pass\n"
    ),
    "in a late import": (
        "def test_first():\n    import late\n\n\ndef test_second():\n    import late\n\n    assert late.FIXED == 2\n\n\n"
        "def test_import():\n    import m\n"
    ),
}


@pytest.mark.parametrize("how", HIDDEN)
async def test_a_test_that_depends_on_the_change_where_no_trace_shows_it_is_run_again(play, how):
    files = {"m.py": RATE, "test_m.py": RATE_TEST, "test_hidden.py": HIDDEN[how]}
    files["late.py"] = "from m import rate\n\nFIXED = rate(1)\n"
    outcome, events, _hung = await play(files, "test_m.py::test_rate", ELSE, attempts=1)
    (attempt,) = [event.attempt for event in events if isinstance(event, Tested)]
    assert attempt.verdict.status is Status.FAILED, outcome.message
    assert {case.id.partition("::")[0] for case in attempt.verdict.collateral} == {"test_hidden.py"}


UNRELATED = "import m\n\n\ndef test_names():\n    assert [name for name in dir(m) if not name.startswith('_')] == ['other', 'rate']\n"


async def test_what_changes_more_than_bodies_is_run_with_all_related_tests(play):
    files = {"m.py": RATE, "test_m.py": RATE_TEST, "test_names.py": UNRELATED}
    more = "import math\n\n\ndef rate(x):\n    return math.prod([x, 2])\n"
    outcome, events, _hung = await play(files, "test_m.py::test_rate", more, "def rate(x):\n    return x * 2\n")
    tested = [event.attempt.verdict for event in events if isinstance(event, Tested)]
    assert [verdict.status for verdict in tested] == [Status.FAILED, Status.PASSED]
    assert [case.id for case in tested[0].collateral] == ["test_names.py::test_names"]
    assert (outcome.evidence.neighbours_unchanged, outcome.evidence.neighbours_not_affected) == (0, 1)


async def test_a_test_that_needs_others_before_it_is_not_held_against_the_candidate(play):
    """Alone it fails with the user's own code too; in its file it passes with both."""
    needs = (
        "from m import other, rate\n\nSEEN = []\n\n\ndef test_first():\n    SEEN.append(other(1))\n\n\n"
        "def test_second():\n    assert SEEN and rate(0) < 2\n"
    )
    files = {"m.py": RATE, "test_m.py": RATE_TEST, "test_needs.py": needs}
    outcome, _events, _hung = await play(files, "test_m.py::test_rate", "def rate(x):\n    return x * 2\n")
    assert outcome.solved, outcome.message
    assert outcome.verified is Verified.VERIFIED
