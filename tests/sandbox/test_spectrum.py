"""The lines of a region that baseline finds suspicious, through a real wall."""

from __future__ import annotations

import pytest

from greenloop.localize import context
from greenloop.localize.baseline import measure_baseline
from greenloop.project import settings
from greenloop.project.environment import interpreters
from greenloop.project.snapshot import Snapshot
from greenloop.project.typed_targets import parse_target
from greenloop_sandbox import Limits, SandboxSpec
from greenloop_sandbox.backends.bubblewrap import Bubblewrap
from watched_pool import Watched

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(120)]

SIGN = "def sign(n):\n    if n > 0:\n        return 1\n    if n < 0:\n        return 1\n    return 0\n"
TESTS = (
    "from m import sign\n\n\ndef test_f():\n    assert sign(-2) == -1\n\n\n"
    "def test_plus():\n    assert sign(2) == 1\n\n\ndef test_zero():\n    assert sign(0) == 0\n"
)


@pytest.fixture
def measured(tmp_path, lay, bare_python):
    """`measured(module, tests)`: (the baseline, the runs that it took)."""

    async def run(module: str, tests: str, *, target: str = "test_m.py::test_f", seconds: float = 10.0):
        root = lay(tmp_path / "w", {"m.py": module, "test_m.py": tests})
        found = settings.Settings(interpreter=str(bare_python))
        place = SandboxSpec(
            root=root, environment=interpreters.find_environment(root, found), limits=Limits(seconds=seconds)
        )
        runs = []

        async def note(session, run):
            runs.append(run)
            return await session.run(run)

        session = Watched(await Bubblewrap().open(place), note)
        try:
            table = context.BaselineContext(
                target=parse_target(target, root).target,
                snapshot=Snapshot(root=root, buffers={}),
                session=session,
                place=place,
                settings=found,
                report_status=print,
            )
            return await measure_baseline(table), runs
        finally:
            await session.close()

    return run


@pytest.mark.story("the most suspicious line comes first")
async def test_the_line_that_only_the_failing_case_runs_comes_first(measured):
    known, runs = await measured(SIGN, TESTS)
    scores = known.problem.suspicion["m.py"]
    assert scores[5] == 1.0
    assert all(scores[line] < 1.0 for line in (2, 4))
    assert not {3, 6} & set(scores)
    assert sum(bool(run.statements) for run in runs) == 1


async def test_a_function_whose_examples_fail(measured):
    module = SIGN.replace("(n):\n", '(n):\n    """\n    >>> sign(-1)\n    -1\n    >>> sign(1)\n    1\n    """\n')
    known, _ = await measured(module, "", target="m.py::sign")
    assert known.problem.suspicion["m.py"][11] == 1.0
    assert known.problem.suspicion["m.py"][8] < 1.0


async def test_what_is_not_written_yet_is_not_watched(measured):
    for module in ("", "def sign(n):\n    raise NotImplementedError\n"):
        known, runs = await measured(module, TESTS)
        assert known.problem.regions[0].qualname == "sign"
        assert known.problem.suspicion == {}
        assert not any(run.statements for run in runs)


async def test_a_loop_without_end_has_suspicious_lines(measured):
    module = "def sign(n):\n    while n < 0:\n        pass\n    return n and 1\n"
    known, _ = await measured(module, TESTS, seconds=2.0)
    assert known.attempt.error_class == "Timeout"
    assert known.problem.suspicion["m.py"] == {2: pytest.approx(0.577, abs=0.001), 3: 1.0}
