"""The rules of the port Sandbox, once over every back end."""

from __future__ import annotations

import asyncio
import sys
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import AsyncExitStack
from pathlib import Path

import psutil
import pytest

from greenloop.core import registry
from greenloop.core.records.verdict import Status
from greenloop.core.verdict import judge
from greenloop.project.settings import SandboxSettings
from greenloop_sandbox import (
    CaseResult,
    Environment,
    Execution,
    Limits,
    Sandbox,
    SandboxSpec,
    Session,
    TestRun,
    WatchedLines,
    case_results,
    collected_cases,
)
from greenloop_sandbox.report.traces import line_traces, reached_functions
from ray_cluster import start_cluster

pytestmark = pytest.mark.timeout(600)  # the first opening in Docker ever makes the image

MODULE = 'def double(n):\n    """\n    >>> double(1)\n    2\n    >>> double(2)\n    5\n    """\n    return n * 2\n'
TESTS = """import pytest
from m import double


def test_good():
    assert double(2) == 4


def test_bad():
    assert double(2) == 5


@pytest.mark.parametrize("n", [0, 1])
def test_each(n):
    assert double(n) == n
"""

Open = Callable[..., Awaitable[Session]]


@pytest.fixture(
    params=[
        pytest.param("bubblewrap", marks=pytest.mark.needs("bubblewrap")),
        pytest.param("docker", marks=pytest.mark.needs("docker")),
        pytest.param("none", marks=pytest.mark.needs("processes")),
        pytest.param("ray", marks=[pytest.mark.cluster, pytest.mark.needs("ray"), pytest.mark.needs("bubblewrap")]),
    ]
)
def back_end(request) -> str:
    return request.param


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """The address of a cluster with two nodes."""
    with start_cluster() as made:
        yield made.address


@pytest.fixture
def sandbox(back_end: str, request) -> Sandbox:
    settings = SandboxSettings(unsafe=True)
    if back_end == "ray":
        settings = SandboxSettings(kind="ray", cluster=request.getfixturevalue("cluster"))
    return registry.load_part("sandboxes", back_end).create(settings)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A workspace with a space and a hash in its path."""
    folder = tmp_path / "my project#1"
    folder.mkdir()
    for name, text in {"pytest.ini": "[pytest]\n", "m.py": MODULE, "test_m.py": TESTS, ".env": "KEY=hush"}.items():
        (folder / name).write_text(text)
    return folder


@pytest.fixture
async def opened(sandbox: Sandbox, root: Path, bare_python: Path) -> AsyncIterator[Open]:
    """`opened(**spec)`: a session that is closed after the test."""
    environment = Environment(
        executable=bare_python,
        prefix=bare_python.parents[1],
        base=Path(sys.base_prefix),
        version=sys.version_info[:2],
        source="test",
        has_pytest=False,
    )
    async with AsyncExitStack() as stack:

        async def open_session(**spec: object) -> Session:
            session = await sandbox.open(
                SandboxSpec(**{"root": root, "environment": environment, "masked": (".env*",), **spec})
            )
            stack.push_async_callback(session.close)
            return session

        yield open_session


def snapshot(root: Path) -> Mapping[Path, tuple[bytes, int]]:
    return {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in root.rglob("*") if path.is_file()}


def outcomes(execution: Execution) -> dict[str, str]:
    assert not execution.broken, execution.broken
    return {case.id: case.outcome for case in case_results(execution)}


async def run_body(session: Session, body: str, **run: object) -> tuple[Execution, CaseResult | None]:
    """The execution and the result of a single test with this body."""
    text = "def test_it():\n" + "".join(f"    {line}\n" for line in body.splitlines())
    execution = await session.run(TestRun(selectors=("test_it.py",), files={"test_it.py": text.encode()}, **run))
    assert not execution.broken, execution.broken
    return execution, next(iter(case_results(execution)), None)


async def until(condition: Callable[[], bool], seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not await asyncio.to_thread(condition):
        assert time.monotonic() < end, "it did not come true in time"
        await asyncio.sleep(0.02)


# -- what a run says ----------------------------------------------------------------------------------------------


async def test_its_probe_says_that_it_works(back_end, sandbox):
    probe = await sandbox.probe()
    assert (probe.name, probe.ok) == (back_end, True), probe


@pytest.mark.story("Docker is as good a sandbox")
async def test_a_pass_and_a_failure_with_what_was_expected(opened):
    execution = await (await opened()).run(TestRun(selectors=("test_m.py::test_good", "test_m.py::test_bad")))
    good, bad = case_results(execution)
    assert good.passed
    assert (bad.outcome, bad.failure.type, bad.failure.frames[-1].path) == ("failed", "AssertionError", "test_m.py")
    assert (bad.failure.observed, bad.failure.expected) == ("4", "5")
    assert (execution.status, execution.killed, execution.leftover) == (1, "", 0)
    assert judge(["test_m.py::test_good"], {}, execution).status is Status.PASSED


@pytest.mark.parametrize(
    ("selectors", "expected"),
    [
        (["test_m.py::test_each[1]"], {"test_m.py::test_each[1]": "failed"}),
        (["test_m.py::test_each"], {"test_m.py::test_each[0]": "passed", "test_m.py::test_each[1]": "failed"}),
        (["doctest:m.py::double"], {"m.py::double::doctest-1": "passed", "m.py::double::doctest-2": "failed"}),
        (
            ["test_m.py::test_good", "doctest:m.py::double"],
            {
                "test_m.py::test_good": "passed",
                "m.py::double::doctest-1": "passed",
                "m.py::double::doctest-2": "failed",
            },
        ),
    ],
)
async def test_selectors_name_what_runs(opened, selectors, expected):
    assert outcomes(await (await opened()).run(TestRun(selectors=tuple(selectors)))) == expected


async def test_of_the_selected_cases_only_the_named_ones_run_and_in_their_order(opened):
    names = ("test_m.py::test_each[1]", "test_m.py::test_good")
    execution = await (await opened()).run(TestRun(selectors=("test_m.py",), only=names))
    assert tuple(case.id for case in collected_cases(execution)) == names
    assert tuple(outcomes(execution)) == names


async def test_a_file_that_is_named_among_cases_runs_as_a_whole(opened):
    names = ("test_m.py::gone", "test_m.py")
    session = await opened()
    every = case_results(await session.run(TestRun(selectors=("test_m.py",))))
    execution = await session.run(TestRun(selectors=("test_m.py",), only=names))
    assert [case.id for case in case_results(execution)] == [case.id for case in every]
    assert len(every) > 1


async def test_a_case_may_have_less_time_than_the_run(opened):
    text = "import time\n\ndef test_a():\n    pass\n\ndef test_b():\n    time.sleep(60)\n\ndef test_c():\n    pass\n"
    run = TestRun(selectors=("test_w.py",), files={"test_w.py": text.encode()}, seconds=50.0, case_seconds=0.5)
    execution = await (await opened()).run(run)
    assert (execution.killed, outcomes(execution)["test_w.py::test_a"]) == ("timeout", "passed")
    assert 0.5 <= execution.silent < execution.seconds < 30


async def test_collecting_runs_nothing(opened):
    execution = await (await opened()).run(TestRun(selectors=("test_m.py::test_each",), collect=True))
    ids = ["test_m.py::test_each[0]", "test_m.py::test_each[1]"]
    assert [case.id for case in collected_cases(execution)] == ids
    assert outcomes(execution) == dict.fromkeys(ids, "missing")


async def test_a_traced_run_says_what_was_reached(opened):
    execution = await (await opened()).run(TestRun(selectors=("test_m.py::test_good",), trace=True))
    reached = reached_functions(execution)["test_m.py::test_good"]
    assert ("m.py", "double") in {(reach.path, reach.name) for reach in reached}


async def test_a_watched_run_says_which_lines_ran_with_which_values(opened):
    line = MODULE.splitlines().index("    return n * 2") + 1
    run = TestRun(selectors=("test_m.py::test_good",), watch=(WatchedLines(path="m.py", start=1, end=line),))
    found = line_traces(await (await opened()).run(run))["test_m.py::test_good"]
    assert found.lines == {"m.py": {line: 1}}
    assert [step.values for step in found.steps] == [{"n": "2"}, {"return": "4"}]


@pytest.mark.story("a pass holds with another hash seed")
async def test_the_hash_seed_is_the_runs(opened):
    session = await opened()
    show = "import sys; sys.modules.setdefault('mark', 1); assert hash('greenloop') == 0"
    values = [(await run_body(session, show, hash_seed=seed))[1].failure.observed for seed in (1, 2, 1)]
    assert values[0] == values[2] != values[1]


# -- files --------------------------------------------------------------------------------------------------------


@pytest.mark.story("the workspace is not written")
async def test_files_lie_over_the_workspace_for_one_run_only(opened, root):
    before = snapshot(root)
    session = await opened()
    files = {"m.py": b"from pkg.new import double\n", "pkg/new.py": b"def double(n):\n    return 7\n"}
    run = TestRun(selectors=("test_m.py::test_good",))
    assert outcomes(await session.run(run)) == {"test_m.py::test_good": "passed"}
    other = await session.run(TestRun(selectors=run.selectors, files=files))
    assert case_results(other)[0].failure.observed == "7"
    assert outcomes(await session.run(run)) == {"test_m.py::test_good": "passed"}
    assert (await run_body(session, "import os; assert not os.path.exists('pkg')"))[1].passed
    assert snapshot(root) == before


async def test_a_file_for_a_link_takes_the_place_of_what_it_leads_to(opened, root):
    (root / "real").mkdir()
    (root / "m.py").rename(root / "real" / "m.py")
    (root / "m.py").symlink_to("real/m.py")
    session = await opened()
    run = TestRun(selectors=("test_m.py::test_good",), files={"m.py": b"def double(n):\n    return 7\n"})
    assert case_results(await session.run(run))[0].failure.observed == "7"
    assert (root / "m.py").is_symlink()


async def test_files_that_a_run_goes_without_are_hidden_from_it(opened, root):
    (root / "conftest.py").write_text("raise RuntimeError\n")
    session = await opened()
    run = TestRun(selectors=("test_m.py::test_good",), without=("conftest.py", "never.py"))
    assert outcomes(await session.run(run)) == {"test_m.py::test_good": "passed"}
    assert outcomes(await session.run(TestRun(selectors=run.selectors))) == {}


async def test_what_changes_on_the_disk_is_seen_by_an_open_session(opened, root):
    (root / "gone.py").write_text("")
    session = await opened()
    assert (await run_body(session, "import gone, m; assert m.double(1) == 2"))[1].passed
    (root / "m.py").write_text("def double(n):\n    return 'new'\n")
    (root / "gone.py").unlink()
    assert (await run_body(session, "import m; assert m.double(1) == 'new'"))[1].passed
    assert (await run_body(session, "import gone"))[1].failure.type == "ModuleNotFoundError"


async def test_masked_files_cannot_be_read(opened):
    body = "try:\n    text = open('.env').read()\nexcept OSError:\n    text = ''\nassert 'hush' not in text"
    assert (await run_body(await opened(), body))[1].passed


async def test_of_masked_files_only_those_that_are_shown_can_be_read(opened, root):
    (root / "tests").mkdir()
    for name in (".env", ".env.test"):
        (root / "tests" / name).write_text(f"NAME={name}")
    body = (
        "texts = [open(path).read() if os.path.exists(path) else '' for path in ('.env', 'tests/.env')]\n"
        "assert texts == ['', '']\nassert open('tests/.env.test').read() == 'NAME=.env.test'"
    )
    session = await opened(masked=(".env*", "!tests/.env.test"))
    assert (await run_body(session, f"import os\n{body}"))[1].passed


async def test_paths_that_leave_the_workspace_are_refused(opened, back_end, root, tmp_path):
    (root / "out").symlink_to(tmp_path)
    session = await opened()
    for name in ("../x.py", "/etc/x", "out/x.py", "a//b", "test_m.py/x"):
        execution = await session.run(TestRun(selectors=("test_m.py::test_good",), files={name: b""}))
        if name == "out/x.py" and back_end == "docker":
            continue  # a link that leaves the workspace does not travel; the file stays in the container
        assert execution.broken, name
        assert judge(["test_m.py::test_good"], {}, execution).status is Status.ENVIRONMENT
    assert sorted(path.name for path in tmp_path.iterdir()) == [root.name]


@pytest.mark.story("nothing of a run reaches the next")
async def test_nothing_of_a_run_reaches_the_next(opened, root):
    before = snapshot(root)
    session = await opened()
    stay = (
        "import os, sys, tempfile, time\nsys.modules['left'] = sys\n"
        "try:\n    open('left.txt', 'w').close()\nexcept OSError:\n    pass\n"
        "open(os.path.join(tempfile.gettempdir(), 'left'), 'w').close()\n"
        "if os.fork() == 0:\n    os.setsid()\n    os.closerange(0, 3)\n    time.sleep(60)"
    )
    execution, _result = await run_body(session, stay)
    assert execution.leftover == 1
    look = (
        "import os, sys, tempfile\nassert 'left' not in sys.modules\nassert not os.path.exists('left.txt')\n"
        "assert not os.path.exists(os.path.join(tempfile.gettempdir(), 'left'))"
    )
    assert (await run_body(session, look))[1].passed
    assert snapshot(root) == before


# -- limits and ends ----------------------------------------------------------------------------------------------


@pytest.mark.story("candidates run within limits")
async def test_an_endless_loop_ends_in_time_and_says_where(opened):
    session = await opened()
    await session.warm()
    began = time.monotonic()
    execution, _result = await run_body(session, "while True: pass", seconds=2)
    assert execution.killed == "timeout"
    assert time.monotonic() - began < 10
    assert "test_it.py" in execution.output
    assert (await run_body(session, "pass"))[1].passed


async def test_more_memory_than_allowed_cannot_be_had(opened):
    session = await opened(limits=Limits(memory=192 << 20))
    assert (await run_body(session, "held = bytearray(32 << 20)"))[1].passed
    hog = "held = []\nwhile True: held.append(bytearray(1 << 20))"
    execution, result = await run_body(session, hog, seconds=20)
    assert execution.killed == "memory" or result.failure.type == "MemoryError", (execution, result)
    assert (await run_body(session, "pass"))[1].passed


async def test_a_flood_of_output_is_cut(opened):
    session = await opened(limits=Limits(output=1 << 16))
    execution, _result = await run_body(session, "import os\nfor _ in range(3000): os.write(1, b'x' * 1000)")
    assert len(execution.output) < 1 << 18


async def test_leaving_by_the_back_door_is_no_pass(opened):
    execution, _result = await run_body(await opened(), "import os\nos._exit(0)")
    assert execution.status == 0
    assert judge(["test_it.py::test_it"], {}, execution).status is Status.TAMPERED


def named(mark: str) -> list[psutil.Process]:
    """Processes of this machine, inside and outside, whose command line has the mark."""
    return [
        process
        for process in psutil.process_iter(["cmdline", "status"])
        if mark in (process.info["cmdline"] or ()) and process.info["status"] != psutil.STATUS_ZOMBIE
    ]


@pytest.mark.story("cancelling leaves nothing behind")
async def test_cancelling_ends_the_tree_within_a_second(opened):
    session = await opened()
    mark = f"greenloop-{uuid.uuid4().hex}"
    start = (
        "import subprocess, sys, time\nfor session in (False, True):\n"
        f"    subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)', {mark!r}], start_new_session=session)\n"
        "time.sleep(60)"
    )
    running = asyncio.create_task(run_body(session, start, seconds=60))
    await until(lambda: running.done() or len(named(mark)) == 2)
    assert not running.done(), running.result()
    began = time.monotonic()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert time.monotonic() - began < 1
    await until(lambda: not named(mark), 5)
    assert (await run_body(session, "pass"))[1].passed


async def test_after_a_pause_it_runs_again_and_closing_twice_is_no_error(opened):
    session = await opened()
    await session.warm()
    assert (await run_body(session, "pass"))[1].passed
    await session.pause()
    assert (await run_body(session, "pass"))[1].passed
    await session.close()
    await session.close()
