"""How long tests may take is learnt from the user's own code: slow tests get their time, endless loops do not."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from greenloop.core.records.spec import TargetKind
from greenloop.core.run_state import Baseline
from greenloop.localize import context
from greenloop.localize.baseline import measure_baseline
from greenloop.localize.context import BaselineContext
from greenloop.project import settings
from greenloop.project.environment import interpreters
from greenloop.project.snapshot import Snapshot
from greenloop.project.typed_targets import parse_target
from greenloop_sandbox import Execution, Limits, SandboxSpec
from greenloop_sandbox.backends.bubblewrap import Bubblewrap

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(120)]

CODE = "def f():\n    return 2\n"
SLOW = "import time\nfrom m import f\n\n\ndef test_f():\n    time.sleep(1.5)\n    assert f() == 1\n"
LOOP = "def f():\n    while True:\n        pass\n"


def laid(limits, **values) -> BaselineContext:
    found = settings.Settings(sandbox=settings.SandboxSettings(**values))
    place = SimpleNamespace(limits=Limits(seconds=limits))
    return BaselineContext(target=None, snapshot=None, session=None, place=place, settings=found, report_status=print)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("took", "killed", "seconds"),
    [(0.3, "", 10.0), (3.0, "", 30.0), (50.0, "", 120.0), (10.0, "timeout", 10.0)],
    ids=["fast", "slow", "at most the setting", "nothing is learnt of a hang"],
)
def test_ten_times_the_baseline_between_two_settings(took, killed, seconds):
    assert laid(10.0).later_limits(Execution(seconds=took, killed=killed)).seconds == seconds


def test_a_longer_time_by_the_users_own_wish_is_never_cut():
    assert laid(300.0, seconds=300.0).later_limits(Execution(seconds=100.0)).seconds == 300.0


@pytest.fixture
def measured(bare_python: Path):
    """`measured(root, files, **sandbox)`: the baseline, and the statuses."""

    async def run(root: Path, files: dict[str, str], **values) -> tuple[Baseline, list[str]]:
        for name, text in files.items():
            (root / name).write_text(text)
        found = settings.Settings(interpreter=str(bare_python), sandbox=settings.SandboxSettings(**values))
        place = SandboxSpec(
            root=root, environment=interpreters.find_environment(root, found), limits=Limits(seconds=values["seconds"])
        )
        session = await Bubblewrap().open(place)
        said: list[str] = []
        target = parse_target("test_m.py::test_f", root).target
        assert target.kind is TargetKind.TEST
        snapshot = Snapshot(root=root, buffers={})
        try:
            table = BaselineContext(
                target=target,
                snapshot=snapshot,
                session=session,
                place=place,
                settings=found,
                report_status=said.append,
            )
            return await measure_baseline(table), said
        finally:
            await session.close()

    return run


async def test_a_slow_test_is_run_once_more_with_the_longest_time(measured, tmp_path):
    known, said = await measured(tmp_path, {"m.py": CODE, "test_m.py": SLOW}, seconds=1.0, longest=20.0)
    assert not known.fault
    assert list(known.outcomes.values()) == ["failed"]
    assert known.limits.seconds > 1.5 * context.SLOWER
    assert any("once more with 20 s" in text for text in said)


async def test_an_endless_loop_of_the_code_is_told_at_once(measured, tmp_path):
    test = "from m import f\n\n\ndef test_f():\n    assert f() == 1\n"
    known, said = await measured(tmp_path, {"m.py": LOOP, "test_m.py": test}, seconds=1.0, longest=100.0)
    assert known.attempt.error_class == "Timeout"
    assert known.limits.seconds == 1.0
    assert not any("once more with 100 s" in text for text in said)
