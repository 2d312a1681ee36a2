"""Requests that are about more than one function or more than one test, through a real wall with a scripted model."""

from __future__ import annotations

import json

import pytest

from greenloop.core.events import Finished, Started, Tested
from greenloop.core.records.verdict import Status
from greenloop.core.text.diff import unified_diff
from greenloop.core.verification_inputs import ACCEPTING
from greenloop.engine import refine
from greenloop.project import configuration
from watched_pool import WatchedPool

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(120)]


@pytest.fixture
def play(tmp_path, monkeypatch):
    """`play(files, target, *answers, **settings)`: the outcome and the events; `play.ran` has the runs of tests."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))

    ran = []

    async def note(session, test_run):
        ran.append(test_run)
        return await session.run(test_run)

    async def run(files, target, *answers, **keys):
        pool = WatchedPool(note)
        root = tmp_path / "work"
        root.mkdir(exist_ok=True)
        for name, text in files.items():
            (root / name).write_text(text)
        script = tmp_path / "answers.jsonl"
        script.write_text("".join(json.dumps(answer) + "\n" for answer in answers))
        chosen = {"model": f"scripted:{script}", "preset": "plain", "sandbox.kind": "bubblewrap", **keys}
        found, warnings = configuration.load(root, command_line=chosen)
        assert not warnings
        events = []
        request = refine.RefineRequest(root=root, target=target)
        try:
            return await refine.refine(request, settings=found, emit=events.append, pool=pool), events
        finally:
            await pool.close()

    run.ran = ran

    return run


BEFORE = (
    "def net(prices):\n    return sum(prices) + 1\n\n\n"
    "UNTOUCHED = 1\n\n\n"
    "def tax(amount):\n    return amount * 2\n\n\n"
    "def far(x):\n    return x\n"
)
SUM_TEST = "import shop\n\n\ndef test_sum():\n    due = [shop.net([100]), shop.tax(100)]\n    assert due == [100, 20]\n"
NET, TAX = "def net(prices):\n    return sum(prices)\n", "def tax(amount):\n    return amount * 0.2\n"


def answer(*parts):
    return "```python\n" + "\n\n".join(parts) + "```\n"


@pytest.mark.story("several functions are changed by one edit")
async def test_two_functions_with_a_bug_each_are_mended_by_one_edit_with_two_hunks(play):
    files = {"shop.py": BEFORE, "test_shop.py": SUM_TEST}
    outcome, events = await play(files, "test_shop.py::test_sum", answer(NET), answer(NET, TAX))
    started = next(event for event in events if isinstance(event, Started))
    assert {region.qualname for region in started.problem.regions} == {"net", "tax"}
    assert outcome.solved
    assert len(outcome.attempts) == 3
    ((path, after),) = outcome.after.items()
    assert after == BEFORE.replace(" + 1", "").replace("* 2", "* 0.2")
    changed = [row for row in unified_diff(BEFORE, after, path).splitlines()[2:] if row[0] in "+-"]
    assert len(changed) == 4


@pytest.mark.story("a repository may lower limits")
async def test_the_repository_may_lower_how_many_functions_are_changed(play):
    project = "[tool.greenloop]\nregions = 1\n"
    files = {"shop.py": BEFORE, "test_shop.py": SUM_TEST, "pyproject.toml": project}
    outcome, events = await play(files, "test_shop.py::test_sum", answer(NET, TAX), attempts=1)
    started = next(event for event in events if isinstance(event, Started))
    assert len(started.problem.regions) == 1
    assert not outcome.solved


async def test_more_functions_where_the_setting_says_so(play):
    code = BEFORE.replace("return x\n", "return x + 1\n")
    test = SUM_TEST.replace("shop.tax(100)]", "shop.tax(100), shop.far(1)]").replace("20]", "20, 1]")
    files = {"shop.py": code, "test_shop.py": test}
    right = answer(NET, TAX, "def far(x):\n    return x\n")
    outcome, _events = await play(files, "test_shop.py::test_sum", right, regions=3)
    assert outcome.solved
    assert outcome.after["shop.py"].count("UNTOUCHED = 1") == 1


TWELVE = "from m import clamp\n\n\n" + "\n\n".join(
    f"def test_{n}():\n    assert clamp({n - 1}, 0, 9) == {max(n - 1, 0)}\n" for n in range(11)
)
CALLER = "from m import clamp\n\n\ndef level(x):\n    return clamp(x, 0, 9)\n"


async def test_the_whole_related_suite_runs_before_an_edit_is_offered(play):
    files = {
        "m.py": "def clamp(x, lo, hi):\n    if x < lo:\n        return hi\n    return x\n",
        "caller.py": CALLER,
        "test_m.py": TWELVE + "\n\ndef test_level():\n    from caller import level\n\n    assert level(5) == 5\n",
    }
    breaking = answer("def clamp(x, lo, hi):\n    return lo\n")
    right = answer("def clamp(x, lo, hi):\n    return max(lo, min(x, hi))\n")
    outcome, events = await play(files, "test_m.py::test_0", breaking, right)
    tested = [event.attempt for event in events if isinstance(event, Tested)]
    assert [attempt.verdict.status for attempt in tested] == [Status.FAILED, Status.PASSED]
    assert len(tested[0].verdict.collateral) == 10  # every test whose value is not 0, the one through `level` too
    assert outcome.solved
    assert isinstance(events[-1], Finished)
    assert outcome.evidence.neighbours_unchanged == 11
    (whole,) = [
        run for run in play.ran if len(run.selectors) == 12 and any(b"max(lo" in text for text in run.files.values())
    ]
    assert whole.hash_seed == ACCEPTING


async def test_a_run_says_before_it_begins_what_it_will_come_to(play):
    files = {
        "m.py": "def double(x):\n    return x + 1\n",
        "test_m.py": "import m\n\n\ndef test_a():\n    assert m.double(5) == 10\n",
    }
    foreseen = []
    for _ in range(2):
        _outcome, events = await play(
            files, "test_m.py::test_a", answer("def double(x):\n    return 2 * x\n"), tokens=9000
        )
        foreseen.append(next(event.estimate for event in events if isinstance(event, Started)))
    assert [estimate.runs for estimate in foreseen] == [0, 1]
    assert 30 < foreseen[0].prompt_tokens < 400
    assert foreseen[0].prompt_tokens < foreseen[0].tokens.likely < foreseen[0].tokens.high == 9000
    assert foreseen[0].seconds is None, "nobody knows how fast a script is"
    assert foreseen[0].cost is None
