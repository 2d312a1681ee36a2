"""The history: every row survives a kill, nothing it suffers stops a run."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import stat
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from greenloop.core.records.attempt import Attempt, Candidate, Draft, FeedbackNote, Mask, Move
from greenloop.core.records.model import Role, Usage
from greenloop.core.records.outcome import Evidence, Outcome, StopReason, Verified
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region, Spec
from greenloop.core.records.verdict import ErrorGroup, Status, Verdict
from greenloop.core.summary import verification_level
from greenloop.core.text.json_codec import from_json, to_json
from greenloop.engine.history import rows
from greenloop.engine.history.provenance import Basis
from greenloop.engine.history.rows import LONGEST_OUTPUT, StoredProblem, read
from greenloop.engine.history.store import History
from greenloop.wording.notes import list_notes
from greenloop.wording.outcome import describe_improvement, level_and_reason, summarize_solved
from greenloop_sandbox import CaseResult, Failure, Frame
from history_runs import LEFT_OPEN, OLD_MESSAGE, ROOT, begin_run, give_old_proofs, open_history

REGION = Region(path="m.py", qualname="f", start=1, end=2)
MASK = Mask(region=REGION, start=1, end=2)


def an_attempt(number: int, *, text: str = "assert 1 == 2", status: Status = Status.FAILED) -> Attempt:
    failure = Failure(
        type="AssertionError", message="1 == 2", frames=(Frame(path="m.py", line=3, function="f"),), text=text
    )
    case = CaseResult(id="test_m.py::test_f", outcome="failed", failure=failure, seconds=0.1)
    return Attempt(
        number=number,
        parent=number - 1 if number else None,
        verdict=Verdict(status=status, cases=(case,), output=text),
        draft=Draft(parent=number - 1, move=Move.REFINE, role=Role.REFINER, masked=MASK) if number else None,
        model="scripted",
        answer="```python\ndef f(): return '\udc80é'\n```",
        candidate=Candidate(texts={REGION: "def f():\n    return 2\n"}, imports=("import re",)),
        error_class="AssertionError",
        group=ErrorGroup.LOGIC,
        notes=(FeedbackNote(text="note", fields={"a": [1]}),),
        usage=Usage(prompt_tokens=10, completion_tokens=5, cost=None),
    )


def an_outcome(attempts: int = 2) -> Outcome:
    return Outcome(
        solved=True,
        verified=Verified.VERIFIED,
        reason=StopReason.SOLVED,
        message="verified",
        attempts=tuple(an_attempt(number) for number in range(attempts)),
        best=1,
        before={"m.py": "def f():\n    return 1\n", "new.py": None},
        after={"m.py": "def f():\n    return 2\n", "new.py": "x = 1\r\n"},
        evidence=Evidence(sandbox="bubblewrap", cases={"user": (1, 1)}, proofs={"a": ("apart",)}, warnings=("w",)),
    )


# -- encoding ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "noun",
    [
        an_attempt(0),
        an_attempt(3),
        an_outcome(),
        Problem(
            root=ROOT,
            spec=Spec(cases=(), selectors=("a",)),
            regions=(REGION,),
            originals={"a": None},
            files={"a": "b"},
            buffers={"a": b"\xff"},
        ),
    ],
)
def test_a_noun_comes_back_as_it_was(noun):
    assert from_json(type(noun), json.loads(json.dumps(to_json(noun)))) == noun


def test_unknown_fields_are_dropped_and_missing_ones_default():
    value = to_json(an_attempt(1)) | {"of_a_newer_version": 1}
    del value["answer"]
    assert from_json(Attempt, value).answer == ""


def test_a_gain_of_older_versions_is_that_of_the_requirement():
    gain = {"goal": "time", "before": 0.041, "after": 0.006, "ratio": 0.15, "low": 0.13, "high": 0.17, "pairs": 9}
    value = to_json(an_outcome())
    for record in (value["evidence"], value["attempts"][0]["verdict"]):
        record["gain"] = gain
        del record["data"]
    value["attempts"][1]["verdict"] |= {"gain": None}
    outcome = read(Outcome, json.dumps(value))
    assert outcome.evidence.data == outcome.attempts[0].verdict.data == {"improve": gain}
    assert outcome.attempts[1].verdict.data == {}
    assert describe_improvement(outcome.evidence) == "41 ms → 6.0 ms (0.15, 0.13 to 0.17), 1 test unchanged"


def test_stored_evidence_says_what_the_tests_leave_open():
    value = to_json(an_outcome())
    value["evidence"] |= LEFT_OPEN
    outcome = read(Outcome, json.dumps(value))
    assert list_notes(outcome) == (
        "Green, though is this wanted? f(3): old → 5, new → 7, m.py:3",
        "Green, and perhaps unfinished: `# TODO: large files`, m.py:7",
        (
            "Its tests notice 2 of 6 one-token changes of it; they also accept `<` → `<=` in `a < b`, m.py:4; "
            "anything in m.py:9, which they never reach"
        ),
    )
    assert verification_level(outcome.evidence) is Verified.PARTIALLY
    unfinished = "perhaps unfinished: `# TODO: large files`, m.py:7"
    sentence = summarize_solved(outcome.evidence, Verified.PARTIALLY)
    assert f"{unfinished}, but its tests notice 2 of 6 one-token changes of it." in sentence
    assert level_and_reason(replace(outcome, verified=Verified.PARTIALLY)).endswith(unfinished)


@pytest.mark.parametrize(
    "value",
    [None, 3, [], {}, {"number": "x", "verdict": {"status": "passed"}}, {"number": 1, "verdict": {"status": "?"}}],
)
def test_what_is_no_noun_is_a_value_error(value):
    with pytest.raises(ValueError):
        from_json(Attempt, value)


def test_numbers_that_json_cannot_say_become_null():
    assert to_json([float("inf"), float("nan"), 1.5]) == [None, None, 1.5]


# -- what is kept ------------------------------------------------------------------------------------------------


def test_a_finished_run_comes_back_whole_after_a_restart(tmp_path):
    history = open_history(tmp_path)
    run = begin_run(history)
    history.save_attempt(run, an_attempt(0))
    history.finish_run(run, an_outcome())
    history.close()

    record = open_history(tmp_path).run(run)
    assert record is not None
    assert (record.state, record.outcome, record.attempts) == ("finished", an_outcome(), an_outcome().attempts)
    assert (record.target, record.root, record.count, record.applied) == ("test_m.py::test_f", str(ROOT), 1, None)


def test_that_a_result_was_applied_is_kept(tmp_path):
    history = open_history(tmp_path)
    run = begin_run(history)
    history.finish_run(run, an_outcome())
    history.mark_applied(run)
    assert history.runs()[0].applied is not None


def test_a_run_of_this_process_is_running(tmp_path):
    history = open_history(tmp_path)
    begin_run(history)
    assert history.runs()[0].state == "running"


def test_only_the_runs_of_one_workspace(tmp_path):
    history = open_history(tmp_path)
    mine = begin_run(history)
    begin_run(history, Path("/other"))
    assert [record.id for record in history.runs(ROOT)] == [mine]
    assert len(history.runs()) == 2


def test_a_workspace_whose_path_is_no_utf8(tmp_path):
    history = open_history(tmp_path)
    run = begin_run(history, Path("/w/\udcff"))
    assert [record.id for record in history.runs(Path("/w/\udcff"))] == [run]


def test_long_output_is_cut_and_short_output_is_not(tmp_path):
    history = open_history(tmp_path)
    run = begin_run(history)
    history.save_attempt(run, an_attempt(1, text="a" * LONGEST_OUTPUT + "b" * 100_000))
    stored = history.run(run).attempts[0].verdict
    assert len(stored.output) < LONGEST_OUTPUT + 100
    assert stored.output.startswith("aaa")
    assert stored.output.endswith("bbb")
    assert len(stored.cases[0].failure.text) < LONGEST_OUTPUT + 100


def test_old_runs_make_room_with_their_attempts(tmp_path):
    history = open_history(tmp_path, keep=3)
    runs = [begin_run(history) for _ in range(5)]
    for run in runs:
        history.save_attempt(run, an_attempt(1))
    last = begin_run(history)
    assert [record.id for record in history.runs()] == [last, *runs[:2:-1]]
    with sqlite3.connect(tmp_path / "history.sqlite3") as connection:
        assert {row[0] for row in connection.execute("SELECT run FROM attempts")} == set(runs[3:])


def test_export_is_json_with_everything(tmp_path):
    history = open_history(tmp_path)
    first, second = begin_run(history), begin_run(history)
    history.finish_run(first, an_outcome())
    history.save_attempt(second, an_attempt(1))
    one, two = (json.loads(json.dumps(value)) for value in history.export())
    assert (one["id"], one["outcome"]["after"]["m.py"], len(one["attempts"])) == (first, "def f():\n    return 2\n", 2)
    assert (two["id"], two["outcome"], two["attempts"][0]["number"]) == (second, None, 1)
    assert [value["id"] for value in history.export(second)] == [second]
    assert list(history.export(99)) == []


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX")
def test_nobody_else_may_read_it(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    (tmp_path / "greenloop").mkdir(mode=0o755)
    history = History.open()
    begin_run(history)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "greenloop").iterdir()}
    assert set(modes.values()) == {0o600}, modes
    assert "history.sqlite3" in modes
    assert stat.S_IMODE((tmp_path / "greenloop").stat().st_mode) == 0o700


# -- killed, crowded, damaged ------------------------------------------------------------------------------------


def test_a_history_that_stays_locked_is_told(tmp_path):
    path = tmp_path / "history.sqlite3"
    with contextlib.closing(sqlite3.connect(path)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(sqlite3.OperationalError) as caught:
            rows.connect(path, seconds=0.05)
    assert rows.describe(caught.value) == (
        "The history cannot be written (database is locked); the run continues without it."
    )


def test_several_threads_write_at_once(tmp_path):
    warnings: list[str] = []
    history = open_history(tmp_path, warnings)

    def write() -> None:
        for _ in range(20):
            history.save_attempt(begin_run(history), an_attempt(1))

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(history.runs(limit=1000)), warnings) == (80, [])


@pytest.mark.parametrize("damage", [b"this is no database" * 100, b"SQLite format 3\0" + b"\xff" * 5000])
def test_a_damaged_history_is_put_aside_and_the_run_goes_on(tmp_path, damage):
    (tmp_path / "history.sqlite3").write_bytes(damage)
    warnings: list[str] = []
    history = open_history(tmp_path, warnings)
    run = begin_run(history)
    history.finish_run(run, an_outcome())
    assert history.run(run).outcome == an_outcome()
    assert len(warnings) == 1
    assert "renamed to" in warnings[0]
    (aside,) = tmp_path.glob("history.damaged-*")
    assert aside.read_bytes() == damage


def test_a_history_damaged_while_open_costs_one_warning(tmp_path):
    warnings: list[str] = []
    history = open_history(tmp_path, warnings)
    run = begin_run(history)
    history._connection.close()
    history.save_attempt(run, an_attempt(1))
    history.finish_run(run, an_outcome())
    assert history.runs() == []
    assert len(warnings) == 1


def test_a_folder_that_cannot_be_written_costs_one_warning(tmp_path):
    (tmp_path / "file").write_text("")
    warnings: list[str] = []
    history = History.open(tmp_path / "file" / "history.sqlite3", warn=warnings.append)
    run = history.start_run(ROOT, "t", preset="p", model="m", sandbox="s")
    history.save_attempt(run, an_attempt(1))
    history.finish_run(run, an_outcome())
    assert (run, history.runs(), history.run(1), list(history.export())) == (None, [], None, [])
    assert len(warnings) == 1


def test_a_full_disk_costs_one_warning_and_what_was_there_stays(tmp_path):
    warnings: list[str] = []
    history = open_history(tmp_path, warnings)
    run = begin_run(history)
    history.save_attempt(run, an_attempt(0))
    pages = history._connection.execute("PRAGMA page_count").fetchone()[0]
    history._connection.execute(f"PRAGMA max_page_count={pages}")  # SQLite then says what it says on a full disk
    for number in range(1, 30):
        history.save_attempt(run, an_attempt(number))
    assert len(warnings) == 1
    assert "full" in warnings[0]
    assert history.run(run).attempts[0] == an_attempt(0)


def test_a_history_of_a_newer_greenloop_is_left_alone(tmp_path):
    open_history(tmp_path).close()
    path = tmp_path / "history.sqlite3"
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version=99")
    warnings: list[str] = []
    assert open_history(tmp_path, warnings).runs() == []
    assert "newer greenloop" in warnings[0]
    assert path.exists()


def test_a_history_of_an_older_greenloop_still_opens(tmp_path):
    path = tmp_path / "history.sqlite3"
    with contextlib.closing(sqlite3.connect(path)) as old:
        old.executescript(
            """
            CREATE TABLE runs(
              id INTEGER PRIMARY KEY AUTOINCREMENT, root TEXT NOT NULL, target TEXT NOT NULL, preset TEXT NOT NULL,
              model TEXT NOT NULL, sandbox TEXT NOT NULL, started REAL NOT NULL, pid INTEGER NOT NULL,
              born REAL NOT NULL, finished REAL, outcome TEXT, applied REAL
            );
            CREATE INDEX runs_of_root ON runs(root, id);
            CREATE TABLE attempts(
              run INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE, number INTEGER NOT NULL,
              attempt TEXT NOT NULL, PRIMARY KEY(run, number)
            );
            INSERT INTO runs VALUES (7, '/r', 't', 'plain', 'm', 's', 1, 1, 1, 2, NULL, NULL);
            PRAGMA user_version=1;
            """
        )
    warnings: list[str] = []
    history = open_history(tmp_path, warnings)
    assert history.run(7).target == "t"
    assert history.basis(7) is None
    run = history.start_run(ROOT, "t", preset="plain", model="m", sandbox="s", basis=Basis(trusted="x", seeds=(1, 2)))
    assert run == 8
    history.close()
    again = open_history(tmp_path, warnings)
    assert again.basis(8) == Basis(trusted="x", seeds=(1, 2))
    assert [record.id for record in again.runs()] == [8, 7]
    assert warnings == []


def test_a_result_with_proofs_of_an_earlier_version_keeps_its_label(tmp_path):
    history = open_history(tmp_path)
    run = begin_run(history)
    history.finish_run(run, an_outcome())
    give_old_proofs(history)
    history.close()
    warnings: list[str] = []
    history = open_history(tmp_path, warnings)
    record = history.run(run)
    assert record.outcome.verified is Verified.VERIFIED
    assert record.outcome.message == OLD_MESSAGE
    assert record.outcome.evidence.proofs == {"test_m.py::test_f": ("reversal", "tamper check", "isolated re-run")}
    assert [attempt.verdict.status for attempt in record.attempts] == [Status.FAILED, Status.FAILED]
    assert [value["outcome"]["verified"] for value in history.export()] == ["verified"]
    assert warnings == []


def test_a_history_of_format_4_gets_what_was_to_change_and_its_attempts_stay(tmp_path):
    history = open_history(tmp_path)
    run = begin_run(history)
    history.save_attempt(run, an_attempt(1))
    history.close()
    with contextlib.closing(sqlite3.connect(tmp_path / "history.sqlite3")) as old:
        old.executescript("DROP TABLE problems; PRAGMA user_version=4;")
    warnings: list[str] = []
    history = open_history(tmp_path, warnings)
    assert history.run(run).attempts == (an_attempt(1),)
    assert history.problem(run) == StoredProblem()
    stored = StoredProblem(instruction="i", names="f", code={REGION: "def f():\n    return 1\n"})
    history.save_problem(run, stored)
    assert (history.problem(run), history.ids(), history.ids(Path("/other")), warnings) == (stored, [run], [], [])
    history._connection.execute("UPDATE problems SET problem = '{'")
    assert history.problem(run) == StoredProblem()


def test_a_basis_goes_with_its_run(tmp_path):
    history = History.open(tmp_path / "history.sqlite3", keep=1)
    for name in "ab":
        history.start_run(ROOT, "t", preset="plain", model="m", sandbox="s", basis=Basis(trusted=name))
    assert history.basis(1) is None
    assert history.basis(2) == Basis(trusted="b")
    history._connection.execute("UPDATE bases SET basis = '{'")
    assert history.basis(2) is None


def test_one_unreadable_attempt_does_not_hide_the_others(tmp_path):
    history = open_history(tmp_path)
    run = begin_run(history)
    history.save_attempt(run, an_attempt(0))
    history.save_attempt(run, an_attempt(1))
    history._connection.execute("UPDATE attempts SET attempt = '{' WHERE number = 0")
    assert [item.number for item in history.run(run).attempts] == [1]


@pytest.mark.parametrize(
    ("model", "preset", "move", "found"),
    [
        ("a", "plain", "draft", [300, 100]),
        ("a", "plain", "mutate", [200]),
        ("b", "plain", "draft", []),
        ("a", "x", "draft", []),
    ],
)
def test_runs_that_began_alike_say_what_they_came_to(tmp_path, model, preset, move, found):
    history = History.open(tmp_path / "h.sqlite3")
    ends = [StopReason.SOLVED, StopReason.ATTEMPTS, StopReason.STALLED, StopReason.CANCELLED, None]
    moves = ["draft", "mutate", "draft", "draft", "draft"]
    for number, (reason, first) in enumerate(zip(ends, moves, strict=True)):
        run = history.start_run(ROOT, "t", preset="plain", model="a", sandbox="s")
        history.save_start(run, move=first, prompt=100 * (number + 1))
        if reason:
            usage = Usage(prompt_tokens=7, completion_tokens=number, cost=0.5)
            solved = reason is StopReason.SOLVED
            outcome = Outcome(
                solved=solved, verified=Verified.UNVERIFIED, reason=reason, message="", attempts=(), usage=usage
            )
            history.finish_run(run, outcome)
    past = history.similar_runs(model, preset, move)
    assert [run.prompt_tokens for run in past] == found
    assert all(run.cost == 0.5 and 0 <= run.seconds < 60 and run.tokens in (7, 8, 9) for run in past)
    assert [run.solved for run in past] == [run.prompt_tokens == 100 for run in past]
    history.close()
    assert history.similar_runs(model, preset, move) == []


def test_a_number_that_the_database_cannot_hold_is_no_run(tmp_path):
    history = open_history(tmp_path)
    history.start_run(ROOT, "t", preset="plain", model="m", sandbox="s")
    assert history.run(10**30) is None
    assert history.run(1) is not None
