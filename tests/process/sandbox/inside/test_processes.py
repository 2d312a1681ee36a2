"""How the processes of a run end: all of them, and somebody takes the exit status of each."""

from __future__ import annotations

import subprocess
import sys

import pytest

from greenloop_sandbox import payload

_LOAD = """
import importlib.util, os, signal, sys, time
spec = importlib.util.spec_from_file_location("processes", sys.argv[1])
processes = importlib.util.module_from_spec(spec)
spec.loader.exec_module(processes)
"""
# In a process of its own, because it adopts orphans: five children with four of their own each, none of which ends.
_LAPS = """
processes.prctl(processes.PR_SET_CHILD_SUBREAPER, 1)
for lap in range(40):
    worker = os.fork()
    if not worker:
        for _ in range(5):
            if os.fork() == 0:
                for _ in range(4):
                    if os.fork() == 0:
                        break
                break
        time.sleep(60)
        os._exit(0)
    while len(processes.descendants()) < 26:
        time.sleep(0.001)
    ended = processes.kill_all(worker, None, False)
    assert ended == (25, -signal.SIGKILL), ended
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        continue
    sys.exit("lap %d left something" % lap)
"""
# A worker that asks for no end, seen by nobody.
_UNSEEN = """
processes._list_processes = dict
worker = os.fork()
if not worker:
    time.sleep(60)
    os._exit(0)
assert processes.kill_all(worker, None, False) == (0, -signal.SIGKILL)
"""


def run(code):
    command = [sys.executable, "-c", _LOAD + code, str(payload.folder() / "processes.py")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells of processes and hands orphans over")
def test_nothing_of_a_run_is_left_not_even_a_zombie():
    run(_LAPS)


def test_a_worker_is_killed_also_where_nothing_tells_of_processes():
    run(_UNSEEN)
