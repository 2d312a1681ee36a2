"""The history, where several processes write and some are killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from history_runs import begin_run, open_history

_WRITER = """
import sys
sys.path[:0] = [{server!r}]
from pathlib import Path
from greenloop.core.records.attempt import Attempt
from greenloop.core.records.verdict import Status, Verdict
from greenloop.engine.history.store import History
warnings = []
history = History.open(Path({path!r}), warn=warnings.append)
for lap in range({laps}):
    run = history.start_run(Path("/w"), "t", preset="p", model="m", sandbox="s")
    for number in range({attempts}):
        history.save_attempt(run, Attempt(number=number, verdict=Verdict(status=Status.FAILED)))
        print(run, number, flush=True)
print("warnings", warnings, flush=True)
{after}
"""


def a_writer(tmp_path: Path, *, laps: int, attempts: int, after: str = "") -> subprocess.Popen[str]:
    return _a_python(_WRITER, path=str(tmp_path / "history.sqlite3"), laps=laps, attempts=attempts, after=after)


def _a_python(code: str, **values: object) -> subprocess.Popen[str]:
    import greenloop

    code = code.format(server=str(Path(greenloop.__file__).parents[1]), **values)
    return subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True)


def test_a_run_that_was_killed_is_readable_and_called_interrupted(tmp_path):
    writer = a_writer(tmp_path, laps=1, attempts=3, after="sys.stdin.read()")
    assert writer.stdout is not None
    lines = [writer.stdout.readline() for _ in range(4)]
    assert "warnings []" in lines[-1]
    history = open_history(tmp_path)
    assert history.runs()[0].state == "running"
    writer.kill()
    writer.wait()
    record = history.run(history.runs()[0].id)
    assert (record.state, record.outcome, [item.number for item in record.attempts]) == ("interrupted", None, [0, 1, 2])


@pytest.mark.parametrize("when", [1, 7, 40, 133])
def test_killed_at_any_moment_every_row_that_was_said_is_there(tmp_path, when):
    writer = a_writer(tmp_path, laps=10_000, attempts=3)
    assert writer.stdout is not None
    said = [writer.stdout.readline().split() for _ in range(when)]
    writer.send_signal(signal.SIGKILL if os.name == "posix" else signal.SIGTERM)
    writer.wait()
    warnings: list[str] = []
    history = open_history(tmp_path, warnings)
    last = max(int(run) for run, _number in said)
    for run in range(1, last + 1):
        wanted = {int(number) for said_run, number in said if int(said_run) == run}
        assert wanted <= {item.number for item in history.run(run).attempts}
    assert {record.state for record in history.runs(limit=10_000)} == {"interrupted"}
    begin_run(history)
    assert warnings == []


def test_several_processes_write_at_once(tmp_path):
    writers = [a_writer(tmp_path, laps=20, attempts=3) for _ in range(3)]
    said = [writer.communicate()[0].splitlines() for writer in writers]
    assert [lines[-1] for lines in said] == ["warnings []"] * 3
    history = open_history(tmp_path)
    assert len(history.runs(limit=1000)) == 60
    assert all(record.count == 2 for record in history.runs(limit=1000))


_OPENER = """
import sys
sys.path[:0] = [{server!r}]
from pathlib import Path
from greenloop.engine.history.store import History
for path in sys.stdin:
    warnings = []
    History.open(Path(path.strip()), warn=warnings.append).close()
    print(warnings, flush=True)
"""


def test_several_processes_begin_a_history_at_once(tmp_path):
    """SQLite does not wait by itself while another process turns a new file to WAL, or closes it as the last one."""
    openers = [_a_python(_OPENER) for _ in range(4)]
    for lap in range(40):
        for opener in openers:
            assert opener.stdin is not None
            opener.stdin.write(f"{tmp_path / str(lap)}\n")
            opener.stdin.flush()
        assert [opener.stdout.readline() for opener in openers] == ["[]\n"] * 4
    for opener in openers:
        opener.communicate()
