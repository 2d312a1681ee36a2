"""The supervisor by itself, driven over its pipes: several runs in one process, files by request, dropping to a user."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from greenloop_sandbox import payload

protocol = payload.protocol()
KEY = b"k" * 32


class Driven:
    def __init__(self, process: subprocess.Popen, root: Path, scratch: Path) -> None:
        self.process, self.root, self.scratch = process, root, scratch

    def report_status(self, message: dict) -> dict:
        self.process.stdin.write(protocol.pack(message))
        self.process.stdin.flush()
        return protocol.read_message(self.process.stdout)

    def run(self, *selectors: str, **more) -> tuple[dict, dict[str, str]]:
        """The reply, and the outcome of each case's call (or setup, where it failed)."""
        options = {"seconds": 20, "memory": 1 << 30, "disk": 1 << 24, "output": 1 << 16, "processes": 64, **more}
        request = protocol.run_request(
            key=KEY, root=str(self.root), selectors=selectors, scratch=str(self.scratch), **options
        )
        reply = self.report_status(request)
        outcomes = {
            record["id"]: record["outcome"]
            for record in protocol.open_report(reply["report"], KEY, complete=not reply["killed"])
            if record["kind"] == "phase" and record["when"] == "call"
        }
        return reply, outcomes


@contextmanager
def supervisor(root: Path, scratch: Path) -> Iterator[Driven]:
    environ = {"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1", "LANG": "C.UTF-8"}
    argv = [sys.executable, "-s", "-B", str(payload.folder() / "supervisor.py")]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environ) as process:
        try:
            ready = protocol.read_message(process.stdout)
            assert (ready["kind"], ready["protocol"], ready["borrowed"]) == ("ready", protocol.VERSION, False)
            yield Driven(process, root, scratch)
        finally:
            process.stdin.close()
            assert process.wait(10) == 0


@pytest.fixture
def driven(tmp_path, lay):
    root, scratch = lay(tmp_path / "w", {"keep.txt": "kept"}), tmp_path / "scratch"
    scratch.mkdir(mode=0o777)
    scratch.chmod(0o777)
    (scratch / "before").touch()
    with supervisor(root, scratch) as found:
        yield found


@pytest.mark.story("nothing of a run reaches the next")
def test_runs_follow_one_another_without_a_trace(driven):
    text = "import sys, tempfile\nfrom m import v\ndef test_a():\n    tempfile.mkstemp(dir={!r})\n    print('noise'); sys.stdout.flush()\n    assert v == 1\n"
    files = {"test_m.py": text.format(str(driven.scratch)).encode(), "m.py": b"v = 1\n", "keep.txt": b"over"}
    assert driven.run("test_m.py", files=files)[1] == {"test_m.py::test_a": "passed"}
    assert sorted(path.name for path in driven.root.iterdir()) == ["keep.txt", "pytest.ini"]
    assert (driven.root / "keep.txt").read_text() == "kept"
    assert [path.name for path in driven.scratch.iterdir()] == ["before"]
    # A module of the earlier run is not remembered by the later one.
    assert driven.run("test_m.py", files={**files, "m.py": b"v = 2\n"})[1] == {"test_m.py::test_a": "failed"}
    reply, _ = driven.run("test_m.py", files={**files, "m.py": b"while True: pass\n"}, seconds=1)
    assert reply["killed"] == "timeout"
    assert driven.run("test_m.py", files=files)[0]["status"] == 0


@pytest.mark.parametrize("seed", ["1", "2"])
def test_a_restart_leaves_nothing_but_the_streams(driven, seed):
    text = f"import os\n\n\ndef test_a():\n    assert os.environ['PYTHONHASHSEED'] == {seed!r} and 'x' in os.environ['PATH']\n"
    files = {"test_m.py": text.encode()}
    assert driven.run("test_m.py", files=files)[1] == {"test_m.py::test_a": "failed"}
    pid = driven.process.pid
    assert (
        driven.report_status({"kind": "restart", "environ": {"PYTHONHASHSEED": seed, "PATH": "x"}})["kind"] == "ready"
    )
    assert driven.run("test_m.py", files=files)[1] == {"test_m.py::test_a": "passed"}
    assert driven.process.pid == pid


def test_a_run_ends_with_its_host(driven):
    request = protocol.run_request(
        key=KEY, root=str(driven.root), selectors=["test_m.py"], scratch=str(driven.scratch), seconds=60, memory=1 << 30,
        disk=1 << 24, output=1 << 16, processes=64, files={"test_m.py": b"open('began', 'w').close()\nwhile True: pass\n"},
    )  # fmt: skip
    driven.process.stdin.write(protocol.pack(request))
    driven.process.stdin.flush()
    until = time.monotonic() + 30
    while not (driven.root / "began").exists():
        assert time.monotonic() < until
        time.sleep(0.02)
    driven.process.stdin.close()
    assert driven.process.wait(10) == 0


def test_written_files_stay(driven):
    assert driven.report_status(
        protocol.write_request(str(driven.root), {"a/b/test_x.py": b"def test_x(): pass\n"})
    ) == {"kind": "written"}
    for _ in range(2):
        assert driven.run("a/b/test_x.py")[1] == {"a/b/test_x.py::test_x": "passed"}


def test_what_cannot_be_laid_down_is_said(driven):
    request = protocol.write_request(str(driven.root), {})
    assert driven.report_status({**request, "files": {"../x": ""}})["kind"] == "broken"
    assert driven.report_status({**request, "files": {"keep.txt/x": ""}})["kind"] == "broken"
    assert driven.report_status({"kind": "dance"})["kind"] == "broken"
    assert driven.run("keep.txt")[0]["kind"] == "done"


COSTING = """
import os
import time


def burn(seconds):
    began = time.process_time()
    while time.process_time() - began < seconds:
        pass


burn(0.05)


def test_waits():
    time.sleep(0.05)


def test_works():
    burn(0.05)


def test_has_it_done():
    if os.fork() == 0:
        burn(0.05)
        os._exit(0)
    os.wait()


def test_lies():
    time.perf_counter = time.monotonic = lambda: 0.0
"""


def test_what_calls_cost_is_measured_from_outside(driven):
    reply, outcomes = driven.run("test_m.py", files={"test_m.py": COSTING.encode()}, passes=2)
    assert [*outcomes.values()] == ["passed"] * 4
    costs = reply["costs"]
    first, again = costs["calls"][:4], costs["calls"][4:]
    for calls in (first, again):
        assert all(0.05 <= seconds < 5 for seconds in calls[:3])
        assert 0 < calls[3] < 0.05
    assert costs["imports"] >= 0.05
    assert costs["elapsed"] > costs["imports"]
    assert costs["processor"] >= 0.05 + 2 * 0.05  # at import, and by both children


def test_a_call_that_does_not_end_has_no_cost(driven):
    text = b"import os\n\n\ndef test_ends():\n    os._exit(0)\n"
    assert driven.run("test_m.py", files={"test_m.py": text}, passes=1)[0]["costs"] is None
    assert driven.run("test_m.py", files={"test_m.py": b"def test_a():\n    pass\n"})[0]["costs"] is None


@pytest.mark.skipif(os.getuid() != 0, reason="needs root, as the supervisor has it in Docker")
def test_the_worker_drops_to_a_user():
    python = Path("/usr/bin/python3")
    if not python.exists():
        pytest.skip("needs an interpreter that everybody may read")
    script = (
        f"import os, resource, sys; sys.path.insert(0, {str(payload.folder())!r}); import worker\n"
        "request = dict(uid=4242, seconds=5, memory=1 << 30, disk=1 << 20, processes=9, count_processes=True)\n"
        "worker.become_user(4242); worker.set_limits(request)\n"
        "print(os.getresuid(), os.getresgid(), os.getgroups(), resource.getrlimit(resource.RLIMIT_NPROC))\n"
    )
    done = subprocess.run([str(python), "-c", script], capture_output=True, text=True, timeout=20, check=False)
    assert done.stdout.strip() == "(4242, 4242, 4242) (4242, 4242, 4242) [] (9, 9)", done.stderr


def test_what_a_test_prints_is_not_written_word_by_word(driven):
    """A test may print a million lines; what it printed is shown in order nevertheless."""
    text = (
        "import sys\n\n\ndef test_a():\n    print('first')\n    print('second')\n    assert sys.stdout.write_through\n"
    )
    reply, outcomes = driven.run("test_m.py", files={"test_m.py": text.encode()})
    assert outcomes == {"test_m.py::test_a": "failed"}
    assert "first\nsecond\n" in reply["output"]
