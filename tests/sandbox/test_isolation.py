"""What hostile or broken code gets from a real bubblewrap: nothing that lasts, and no pass."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import socket
import time
from pathlib import Path

import pytest

from greenloop.core.records.verdict import Status
from greenloop.core.verdict import judge
from greenloop_sandbox import Apart, Limits, TestRun
from greenloop_sandbox.backends._supervisor import descendants, is_alive
from greenloop_sandbox.report import cases as report

pytestmark = pytest.mark.needs("bubblewrap")

# Each of these prints what it could get hold of; the test below asserts on the words.
PROBE = """
import ctypes, os, pathlib, socket, subprocess, sys

def attempt(action):
    try:
        return repr(action())
    except BaseException as error:
        return type(error).__name__

def test_probe():
    here = pathlib.Path(__file__).parent
    connect = lambda: socket.create_connection(("127.0.0.1", PORT), 1)
    libc = ctypes.CDLL(None, use_errno=True)
    found = {
        "network": attempt(connect),
        "outside": attempt(lambda: open(OUTSIDE).read()),
        "shadow": attempt(lambda: open("/etc/shadow").read()),
        "home": attempt(lambda: sorted(os.listdir(os.path.expanduser("~root")))),
        "env_file": attempt(lambda: (here / ".env").read_text()),
        "nested_env": attempt(lambda: (here / "conf" / "deep" / ".env.local").read_text()),
        "pem": attempt(lambda: (here / "conf" / "key.pem").read_text()),
        "git": attempt(lambda: os.listdir(here / ".git")),
        "variable": attempt(lambda: os.environ["GREENLOOP_TEST_SECRET"]),
        "allowed": attempt(lambda: os.environ["GREENLOOP_TEST_ALLOWED"]),
        "root_write": attempt(lambda: open("/x", "w")),
        "usr_write": attempt(lambda: open("/usr/x", "w")),
        "interpreter_write": attempt(lambda: open(os.path.join(os.path.dirname(os.__file__), "x.py"), "w")),
        "sysctl": attempt(lambda: open("/proc/sys/kernel/core_uses_pid", "w")),
        "device_mode": attempt(lambda: os.chmod("/dev/null", os.stat("/dev/null").st_mode & 0o777)),
        "device": attempt(lambda: open("/dev/null", "w").write("x")),
        "runner_write": attempt(lambda: open("/run/greenloop/plugin.py", "w")),
        "runner_mode": attempt(lambda: os.chmod("/run/greenloop/plugin.py", 0o600)),
        "runner_removed": attempt(lambda: os.unlink("/run/greenloop/plugin.py")),
        "uid": attempt(os.getuid),
        "setuid": attempt(lambda: os.setuid(0)),
        "capabilities": [l.split()[1] for l in open("/proc/self/status") if l.startswith("CapEff")][0],
        "no_new_privs": [l.split()[1] for l in open("/proc/self/status") if l.startswith("NoNewPrivs")][0],
        "unshare": libc.unshare(0x10000000),
        "ptrace": libc.ptrace(0, 0, 0, 0),
        "kill_supervisor": attempt(lambda: os.kill(os.getppid(), 9)),
        "supervisor_memory": attempt(lambda: open(f"/proc/{os.getppid()}/mem", "rb")),
        "processes": len([n for n in os.listdir("/proc") if n.isdigit()]),
        "descriptors": [attempt(lambda: os.readlink("/proc/self/fd/" + n))[1:-1] for n in os.listdir("/proc/self/fd")],
        "stdin": attempt(lambda: os.read(0, 1)),
        "interfaces": sorted(os.listdir("/sys/class/net")) if os.path.isdir("/sys/class/net") else socket.if_nameindex(),
    }
    raise AssertionError(repr(found))
"""


@pytest.mark.story("candidates reach nothing outside")
@pytest.mark.parametrize("writable", [True, False])
async def test_nothing_outside_can_be_reached(tmp_path, lay, snapshot, opened, monkeypatch, writable):
    monkeypatch.setenv("GREENLOOP_TEST_SECRET", "secret")
    outside = tmp_path / "outside.txt"
    outside.write_text("secret")
    server = socket.create_server(("127.0.0.1", 0))
    port = server.getsockname()[1]
    with server:
        socket.create_connection(("127.0.0.1", port), 1).close()  # the same attempt succeeds where there is no wall
        files = {
            "test_p.py": PROBE.replace("PORT", str(port)).replace("OUTSIDE", repr(str(outside))),
            ".env": "KEY=secret",
            "conf/deep/.env.local": "KEY=secret",
            "conf/key.pem": "secret",
            ".git/config": "secret",
        }
        root = lay(tmp_path / "w", files)
        before = snapshot(root)
        session = await opened(root, writable=writable, variables={"GREENLOOP_TEST_ALLOWED": "yes"})
        execution = await session.run(TestRun(selectors=("test_p.py",)))
    assert not execution.broken
    found = eval(report.case_results(execution)[0].failure.message)
    assert found["network"] == "ConnectionRefusedError"
    assert found["interfaces"] == [(1, "lo")]
    assert found["outside"] == "FileNotFoundError"
    assert found["shadow"] == "FileNotFoundError"
    assert found["home"] == "FileNotFoundError" or "secret" not in found["home"]
    assert (found["env_file"], found["nested_env"], found["pem"], found["git"]) == ("''", "''", "''", "[]")
    assert (found["variable"], found["allowed"]) == ("KeyError", "'yes'")
    refused = {"OSError", "PermissionError", "FileNotFoundError"}
    for name in (
        "root_write",
        "usr_write",
        "interpreter_write",
        "sysctl",
        "device_mode",
        "runner_write",
        "runner_mode",
        "runner_removed",
        "setuid",
        "supervisor_memory",
    ):
        assert found[name] in refused, name
    assert found["device"] == "1"
    assert found["uid"] != "0"
    assert int(found["capabilities"], 16) == 0
    assert found["no_new_privs"] == "1"
    assert (found["unshare"], found["ptrace"]) == (-1, -1)
    assert found["processes"] == 2
    assert not [name for name in found["descriptors"] if name.startswith(("/memfd", "socket:", "anon_inode:"))]
    assert len({name for name in found["descriptors"] if name.startswith("pipe:")}) == 2  # the report and the output
    assert found["stdin"] == "b''"
    assert snapshot(root) == before


async def test_the_interpreters_own_folder_is_the_only_part_of_home_that_shows(tmp_path, lay, opened):
    """Private folders above the interpreter stay closed, and yet it runs: each run here proves the second half."""
    root = lay(tmp_path / "w", {"test_p.py": "import os\ndef test_p(): assert 0, sorted(os.listdir('/'))\n"})
    session = await opened(root)
    execution = await session.run(TestRun(selectors=("test_p.py",)))
    listed = report.case_results(execution)[0].failure.message
    for name in ("boot", "mnt", "media", "srv", "var", "opt"):
        assert f"'{name}'" not in listed


CHEATS = {
    "exit in a test": "import os\ndef f():\n    os._exit(0)\n",
    "exit at import": "import os\nos._exit(0)\n",
    "skip": "import pytest\ndef f():\n    pytest.skip('no')\n",
    "pytest.exit": "import pytest\ndef f():\n    pytest.exit('done', 0)\n",
    "patched report": (
        "import _pytest.reports as r\nold = r.TestReport.from_item_and_call.__func__\n"
        "def new(cls, item, call):\n    rep = old(cls, item, call)\n    rep.outcome = 'passed'\n    rep.longrepr = None\n    return rep\n"
        "r.TestReport.from_item_and_call = classmethod(new)\ndef f():\n    return 0\n"
    ),
    "patched json": "import json\njson.dumps = lambda *a, **k: '{}'\njson.JSONEncoder.encode = lambda *a: '{}'\ndef f():\n    return 0\n",
    "forged records": (
        "import os, time\n"
        'for fd in range(3, 64):\n    try: os.write(fd, b\'0\' * 32 + b\' {"kind": "finished", "status": 0, "seq": 9}\\n\')\n    except OSError: pass\n'
        "def f():\n    return 0\n"
    ),
    "exit code by atexit": "import atexit, os\natexit.register(os._exit, 0)\ndef f():\n    return 0\n",
    "killed supervisor": "import os, signal\nos.kill(os.getppid(), 9)\ndef f():\n    os.kill(-1, 9)\n",
    "signal": "import os\ndef f():\n    os.abort()\n",
    "session emptied": (
        "import gc\nfrom _pytest.main import Session\n"
        "for s in gc.get_objects():\n    if isinstance(s, Session): s.config.pluginmanager.unregister(name='terminalreporter')\n"
        "def f():\n    import gc, _pytest.python as p\n    for i in gc.get_objects():\n        if isinstance(i, p.Function): i.runtest = lambda: None\n    return 0\n"
    ),
}


async def test_no_cheat_of_these_passes(tmp_path, lay, opened):
    """The honest candidate passes under the same rules; the attacks that only a run apart finds are not among these."""
    tests = "from m import f\ndef test_a(): assert f() == 1\ndef test_b(): assert f() == 1\n"
    root = lay(tmp_path / "w", {"m.py": "def f():\n    return 1\n", "test_m.py": tests})
    session = await opened(root)
    expected = ["test_m.py::test_a", "test_m.py::test_b"]
    honest = judge(expected, {}, await session.run(TestRun(selectors=("test_m.py",))))
    assert (honest.status, honest.passed) == (Status.PASSED, 2)
    baseline = dict.fromkeys(expected, "failed")
    statuses = {}
    for name, text in CHEATS.items():
        execution = await session.run(TestRun(selectors=("test_m.py",), files={"m.py": text.encode()}))
        assert not execution.broken, name
        verdict = judge(expected, baseline, execution)
        statuses[name] = verdict.status
        assert verdict.status is not Status.PASSED, name
        assert verdict.reason or any(case.failure for case in verdict.cases), name
    assert statuses["exit in a test"] is Status.TAMPERED
    assert statuses["exit at import"] is Status.TAMPERED
    assert statuses["patched report"] is Status.TAMPERED
    assert statuses["forged records"] is Status.TAMPERED
    assert statuses["signal"] is Status.CRASHED


LIMITS = Limits(seconds=2.0, memory=256 << 20, disk=16 << 20, output=1 << 16, processes=32)
HOGS = {
    "loop": ("def f():\n    n = 0\n    while True:\n        n += 1\n", {"timeout"}),
    "memory": ("def f():\n    return bytearray(1 << 30)\n", {"", "memory"}),
    "memory of many": (
        (
            "import os, time\ndef f():\n    for _ in range(4):\n        if not os.fork():\n            b = bytearray(b'x') * (100 << 20)\n"
            "            time.sleep(30)\n    time.sleep(30)\n"
        ),
        {"memory"},
    ),
    "fork bomb": (
        "import os\ndef f():\n    while True:\n        try: os.fork()\n        except OSError: pass\n",
        {"processes", "timeout"},
    ),
    "threads": (
        (
            "import threading, time\ndef f():\n    for _ in range(500):\n        threading.Thread(target=time.sleep, args=(30,)).start()\n"
            "    time.sleep(30)\n"
        ),
        {"", "processes", "timeout"},
    ),
    "output": ("import os\ndef f():\n    while True:\n        os.write(2, b'x' * 65536)\n", {"output", "timeout", ""}),
    "disk": (
        "def f():\n    for n in range(64):\n        open(f'big{n}', 'wb').write(b'x' * (8 << 20))\n    return 0\n",
        {"disk", ""},
    ),
    "tmp": (
        "def f():\n    for n in range(64):\n        open(f'/tmp/big{n}', 'wb').write(b'x' * (8 << 20))\n    return 0\n",
        {"", "disk"},
    ),
    "daemon": (
        (
            "import os, time\ndef f():\n    if os.fork() == 0:\n        os.setsid()\n        if os.fork() == 0:\n            time.sleep(60)\n"
            "        os._exit(0)\n    return 0\n"
        ),
        {""},
    ),
}


@pytest.mark.story("candidates run within limits")
async def test_hogs_are_stopped_and_leave_nothing(tmp_path, lay, snapshot, opened):
    root = lay(
        tmp_path / "w",
        {"m.py": "def f():\n    return 1\n", "test_m.py": "from m import f\ndef test_a(): assert f() == 1\n"},
    )
    before = snapshot(root)
    session = await opened(root, limits=LIMITS)
    # The wall and its supervisor may stay, and whatever other tests keep; what a run started may not.
    stay = descendants(os.getpid())
    for name, (text, kills) in HOGS.items():
        began = time.monotonic()
        execution = await session.run(
            TestRun(selectors=("test_m.py",), files={"m.py": text.encode()}, seconds=LIMITS.seconds)
        )
        assert not execution.broken, (name, execution.broken)
        assert execution.killed in kills, name
        verdict = judge(["test_m.py::test_a"], {"test_m.py::test_a": "failed"}, execution)
        assert verdict.status in (Status.FAILED, Status.TIMEOUT, Status.CRASHED), name
        assert verdict.cases[0].failure is not None, name
        assert len(execution.output) < 2 * LIMITS.output, name
        assert time.monotonic() - began < 12, name
        assert len(descendants(os.getpid())) <= max(len(stay), 2), name
        if name == "loop":
            assert [frame.path for frame in verdict.cases[0].failure.frames] == ["test_m.py", "m.py"]
            assert verdict.cases[0].failure.type == "Timeout"
        if name == "daemon":
            assert execution.leftover >= 1
    assert snapshot(root) == before
    honest = judge(["test_m.py::test_a"], {}, await session.run(TestRun(selectors=("test_m.py",))))
    assert honest.status is Status.PASSED


async def _under_way(root: Path, task: asyncio.Task) -> list[int]:
    """The host's process ids of a run, as soon as its worker has begun to fork."""
    while len(tree := descendants(os.getpid())) < 5:
        assert not task.done(), task.result()
        await asyncio.sleep(0.01)
    return tree


SLEEPERS = "import os, time\ndef test_a():\n    os.fork(); os.fork()\n    time.sleep(60)\n"


async def test_close_ends_what_still_runs(tmp_path, lay, opened):
    root = lay(tmp_path / "w", {"test_m.py": SLEEPERS})
    session = await opened(root)
    task = asyncio.create_task(session.run(TestRun(selectors=("test_m.py",), seconds=60)))
    tree = await _under_way(root, task)
    await session.close()
    assert [pid for pid in tree if is_alive(pid)] == []
    assert "bubblewrap ended" in (await task).broken


@pytest.mark.story("a refusal is a sentence with a remedy")
async def test_a_dead_bubblewrap_is_a_sentence(tmp_path, lay, opened):
    root = lay(tmp_path / "w", {"test_m.py": SLEEPERS})
    session = await opened(root)
    task = asyncio.create_task(session.run(TestRun(selectors=("test_m.py",), seconds=60)))
    tree = await _under_way(root, task)
    os.kill(tree[0], signal.SIGKILL)
    execution = await task
    assert execution.broken.startswith("bubblewrap ended with status -9")
    assert judge(["test_m.py::test_a"], {}, execution).status is Status.ENVIRONMENT
    assert [pid for pid in tree if is_alive(pid)] == []


async def test_a_private_workspace_of_root_is_readable_and_writable_inside(tmp_path, lay, snapshot, opened):
    """Files that only their owner may read, in folders that only their owner may enter."""
    text = (
        "import os\nfrom sub.m import v\ndef test_a():\n    open('sub/new.txt', 'w').close()\n    os.mkdir('made')\n"
        "    assert (v, os.getuid() != 0) == (1, True)\n"
    )
    root = lay(tmp_path / "w", {"test_m.py": text, "sub/m.py": "v = 1\n"})
    for path in (root, root / "sub"):
        path.chmod(0o700)
    for path in (root / "sub" / "m.py", root / "test_m.py"):
        path.chmod(0o600)
    before = snapshot(root)
    session = await opened(root)
    execution = await session.run(TestRun(selectors=("test_m.py",), files={"sub/other.py": b""}))
    assert judge(["test_m.py::test_a"], {}, execution).status is Status.PASSED, execution
    assert snapshot(root) == before
    assert (root.stat().st_uid, (root / "sub").stat().st_mode & 0o777) == (os.getuid(), 0o700)


async def test_a_workspace_below_the_name_of_the_runs_own_folder_works(tmp_path, lay, opened):
    """Twice: the first run must not take the name that the second one needs."""
    parent = Path("/tmp/greenloop")  # what the sandbox calls its own folder for temporary files
    is_new = not parent.exists()
    root = parent / tmp_path.name
    try:
        text = "def test_a(tmp_path):\n    (tmp_path / 'x').touch()\n    assert len(list(tmp_path.iterdir())) == 1\n"
        session = await opened(lay(root, {"test_m.py": text}))
        for _ in range(2):
            execution = await session.run(TestRun(selectors=("test_m.py",)))
            assert judge(["test_m.py::test_a"], {}, execution).status is Status.PASSED, execution
        assert sorted(path.name for path in root.iterdir()) == ["pytest.ini", "test_m.py"]
    finally:
        shutil.rmtree(root)
        if is_new:
            parent.rmdir()


BLINDFOLD = (
    "import _pytest.runner as r\nold = r.CallInfo.from_call.__func__\n"
    "def new(cls, func, when, reraise=None):\n    def quiet():\n        try: func()\n        except Exception: pass\n"
    "    return old(cls, quiet, when, reraise)\n"
    "r.CallInfo.from_call = classmethod(new)\ndef f():\n    return 0\n"
)


async def test_what_the_records_cannot_see_fails_apart(tmp_path, lay, opened):
    """Code that swallows every exception before pytest sees it passes in one process: this is that process's limit."""
    case = "test_m.py::test_a"
    own, tests = "def f():\n    return 2\n", "from m import f\ndef test_a():\n    assert f() == 1\n"
    session = await opened(lay(tmp_path / "w", {"m.py": own, "test_m.py": tests}))
    for text, passes in ((BLINDFOLD, False), ("def f():\n    return 1\n", True)):
        together = await session.run(TestRun(selectors=("test_m.py",), files={"m.py": text.encode()}))
        assert judge([case], {case: "failed"}, together).status is Status.PASSED
        changed = Apart(files={"m.py": text}, tests=("test_m.py",))
        apart = await session.run(TestRun(selectors=("test_m.py",), apart=changed))
        assert (judge([case], {case: "failed"}, apart).status is Status.PASSED) is passes
    (record,) = report.records_of_kind(apart, "apart")
    assert (record["id"], record["unfit"]) == (case, "")
