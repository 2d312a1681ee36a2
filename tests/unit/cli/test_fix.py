"""`greenloop fix` with an engine that does as told: exit codes, JSON, what is written and what is not."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
from dataclasses import replace

import pytest

from conversation_attempts import BLEMISH, LOOKS, turn
from fake_engine import AFTER, BEFORE, CASE, TEST, attempt, solved, tampered, unsolved, verdict
from fixed_machine import FixedMachine
from greenloop.cli.main import main
from greenloop.core.errors import CannotVerifyError, ModelError, SettingsError, UsageError, WorkspaceError
from greenloop.core.records.outcome import Evidence, StopReason, Verified
from greenloop.core.records.verdict import Status
from greenloop.engine.history.store import History
from greenloop.models.providers import none


def objects(text: str) -> list[dict]:
    return [json.loads(line) for line in text.splitlines()]


# -- exit codes --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("result", "words", "code"),
    [
        (solved(None), [], 0),
        (solved(None), ["--apply"], 0),
        (unsolved(StopReason.ALREADY_GREEN, solved=True, verified=Verified.VERIFIED, attempts=()), [], 0),
        (solved(None, verified=Verified.PARTIALLY), [], 1),
        (solved(None, verified=Verified.PARTIALLY), ["--accept", "partial"], 0),
        (solved(None, verified=Verified.UNVERIFIED), ["--accept", "partial"], 1),
        (solved(None, verified=Verified.UNVERIFIED), ["--accept", "unverified"], 0),
        (unsolved(), ["--accept", "partial"], 1),
        (unsolved(StopReason.STALLED), [], 1),
        (unsolved(StopReason.SECONDS), [], 1),
        (unsolved(StopReason.ENVIRONMENT), [], 3),
        (unsolved(StopReason.MODEL), [], 3),
        (unsolved(StopReason.CANCELLED), [], 130),
        (asyncio.CancelledError(), [], 130),
        (UsageError("no such test"), [], 2),
        (SettingsError("bad"), [], 2),
        (CannotVerifyError("no sandbox"), [], 3),
        (ModelError("unreachable"), [], 3),
        (WorkspaceError("disk"), [], 1),
        (RuntimeError("a secret prompt"), [], 1),
    ],
)
@pytest.mark.parametrize("json_too", [[], ["--json"]])
def test_the_exit_code_says_how_it_ended(fake, capsys, result, words, code, json_too):
    fake.result = result
    assert main(["fix", CASE, *words, *json_too]) == code


@pytest.mark.parametrize(
    "words",
    [
        ["nonsense"],
        ["fix", "--nonsense"],
        ["fix", CASE, "--accept", "everything"],
        ["fix", CASE, "--set", "nonsense"],
        ["fix", CASE, "--set", "no.such=1"],
        ["fix", CASE, "--attempts", "-1"],
        ["fix", CASE, "--sandbox", "nonsense"],
        ["fix", CASE, "--root", "nowhere"],
        ["fix", CASE, "--all"],
        ["fix", CASE, "book.ipynb:4"],
        ["fix", "/etc/passwd", "--root", "."],
    ],
)
def test_a_wrong_command_line_is_2_and_says_what_is_wrong(fake, capsys, words):
    assert main(words) == 2
    err = capsys.readouterr().err
    assert "Traceback" not in err
    assert "greenloop" in err
    assert fake.requests == []


# -- what goes in ------------------------------------------------------------------------------------------------


def test_flags_become_settings(fake, project):
    limits = ["--attempts", "3", "--seconds", "9", "--tokens", "99"]
    more = ["--sandbox", "docker", "--set", "sandbox.image=x", "--set", "apply=ask"]
    main(["fix", CASE, "--model", "scripted:a.jsonl", "--preset", "plain", *limits, *more])
    (settings,) = fake.settings
    assert settings.model == f"scripted:{project / 'a.jsonl'}"
    assert (settings.preset, settings.attempts, settings.seconds, settings.tokens) == ("plain", 3, 9.0, 99)
    assert (settings.sandbox.kind, settings.sandbox.image, settings.apply) == ("docker", "x", "ask")


@pytest.mark.parametrize("words", [[], [CASE], ["--all"]])
def test_a_model_that_cannot_be_asked_ends_everything_before_a_test_runs(fake, words, monkeypatch, capsys):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    fake.list_failing_tests = lambda *_arguments, **_more: pytest.fail("ran")
    assert main(["fix", *words, "--model", "gpt-4o"]) == 3
    assert "There is no key for gpt-4o." in capsys.readouterr().err
    assert fake.requests == []


@pytest.mark.parametrize("words", [["--model", "editor"], ["--set", "critic.model=editor"]])
def test_the_model_of_an_editor_is_refused_with_one_sentence(fake, capsys, words):
    assert main(["fix", CASE, *words]) == 2
    err = capsys.readouterr().err
    assert 'model = "editor" works only inside an editor that provides a language model.' in err
    assert "Choose another with --model" in err
    assert fake.requests == []


def test_a_comment_goes_with_the_request(fake):
    main(["fix", CASE, "--comment", "use a loop"])
    main(["fix", CASE])
    assert [request.comment for request in fake.requests] == ["use a loop", ""]


@pytest.mark.parametrize(
    ("folder", "typed", "meant"),
    [
        (".", "test_m.py::test_double", "test_m.py::test_double"),
        ("sub", "../test_m.py::test_double[a::b]", "test_m.py::test_double[a::b]"),
        ("sub", "../m.py:1", "m.py:1"),
        ("sub", "../m.py:1:7", "m.py:1"),
        ("sub", "../m.py::double", "m.py::double"),
        (".", "sub/../m.py", "m.py"),
        (".", "gone.py::test_x", "gone.py::test_x"),
    ],
)
def test_a_target_is_meant_from_where_the_user_stands(fake, project, monkeypatch, folder, typed, meant):
    monkeypatch.chdir(project / folder)
    main(["fix", typed])
    assert (fake.requests[0].root, fake.requests[0].target) == (project, meant)


def test_an_absolute_target_names_its_workspace(fake, project, monkeypatch, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    main(["fix", f"{project / 'test_m.py'}::test_double"])
    assert (fake.requests[0].root, fake.requests[0].target) == (project, CASE)


def test_bad_settings_files_warn_and_the_run_goes_on(fake, project, tmp_path, capsys):
    (project / "pyproject.toml").write_text("[tool.greenloop]\nmodel = 'evil'\nnonsense = 1\n")
    (tmp_path / "config" / "greenloop").mkdir(parents=True)
    (tmp_path / "config" / "greenloop" / "config.toml").write_text("this is = = no TOML")
    assert main(["fix", CASE]) == 0
    err = capsys.readouterr().err
    assert err.count("greenloop: warning:") == 3
    assert "config.toml cannot be read" in err


# -- without a target --------------------------------------------------------------------------------------------


def test_no_target_takes_the_first_red_test(fake, capsys):
    fake.red = ["test_m.py::test_a", "test_m.py::test_b"]
    assert main(["fix"]) == 0
    assert [request.target for request in fake.requests] == ["test_m.py::test_a"]
    assert "2 failing" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["fix"], ["fix", "--all"]])
def test_a_test_that_passes_alone_depends_on_others_and_the_next_is_taken(fake, capsys, words):
    fake.red = ["test_m.py::test_a", "test_m.py::test_b"]
    fake.result = replace(fake.result, reason=StopReason.ALREADY_GREEN, after={}, message="already passes")
    assert main(words) == 3
    assert [request.target for request in fake.requests] == fake.red
    assert "test_m.py::test_b passes alone and failed with the tests that run before it" in capsys.readouterr().out


def test_all_takes_them_one_after_another(fake, capsys):
    fake.red = ["test_m.py::test_a", "test_m.py::test_b"]
    assert main(["fix", "--all", "--json"]) == 0
    assert [request.target for request in fake.requests] == fake.red
    assert [one["event"] for one in objects(capsys.readouterr().out)].count("finished") == 2


def test_several_targets_are_taken_in_their_order_and_none_twice(fake, project, capsys):
    (project / "tests").mkdir()
    (project / "tests" / "test_n.py").write_text("def test_c(): pass\n")
    assert main(["fix", "m.py::double", CASE, "tests", "m.py::double", "--json"]) == 0
    assert [request.target for request in fake.requests] == ["m.py::double", CASE, "tests/test_n.py"]
    assert [one["event"] for one in objects(capsys.readouterr().out)].count("finished") == 3


def test_one_that_cannot_be_worked_on_does_not_keep_the_others_from_their_turn(fake, capsys):
    fake.red = ["a", "b"]
    fake.result = CannotVerifyError("no")
    assert main(["fix", "--all"]) == 3
    assert len(fake.requests) == 2


@pytest.mark.parametrize("words", [["fix"], ["fix", "--all"]])
def test_a_green_suite_is_nothing_to_fix(fake, capsys, words):
    fake.red = []
    assert main(words) == 0
    assert "There is nothing to fix." in capsys.readouterr().out
    assert fake.requests == []


def test_a_green_suite_names_what_other_checks_find(fake, capsys):
    fake.red, fake.others = [], "mypy reports 1 error."
    assert main(["fix"]) == 0
    assert "All tests pass. mypy reports 1 error." in capsys.readouterr().out


# -- JSON --------------------------------------------------------------------------------------------------------

FINISHED = {
    "solved",
    "verified",
    "reason",
    "message",
    "attempts",
    "best",
    "diff",
    "applied",
    "withdrawn",
    "notes",
    "run",
    "usage",
    "evidence",
    "gain",
    "remedy",
}
USAGE = {"cached_tokens", "prompt_tokens", "completion_tokens", "cost", "model_seconds", "test_seconds"}


def test_a_faked_pass_is_shown_with_the_reason(fake, capsys):
    why = f"{CASE} does not fail as it must."
    fake.result = unsolved(attempts=(attempt(0), tampered(1)), best=None)
    assert main(["fix", CASE]) == 1
    assert f"attempt 1/5: tampered, Tampered: {why}" in capsys.readouterr().err
    assert main(["fix", CASE, "--json"]) == 1
    (tested,) = [each for each in objects(capsys.readouterr().out) if each["event"] == "tested"]
    assert [tested[name] for name in ("status", "error_class", "group", "message")] == [
        "tampered",
        "Tampered",
        "tampering",
        why,
    ]
    assert main(["history", "show"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "tampered Tampered:" in shown
    assert "not fail as it must." in shown
    assert main(["history", "export", "1"]) == 0
    assert json.loads(capsys.readouterr().out)["attempts"][1]["verdict"]["reason"] == why


def test_json_is_the_fixed_interface(fake, capsys):
    assert main(["fix", CASE, "--json"]) == 0
    captured = capsys.readouterr()
    events = objects(captured.out)
    rounds = ["planned", "proposed", "checked", "tested"]
    assert [event["event"] for event in events] == ["started", *rounds, *rounds, "finished"]
    assert captured.err == ""
    tested = [event for event in events if event["event"] == "tested"]
    assert [(one["attempt"], one["status"], one["passed"], one["total"], one["error_class"]) for one in tested] == [
        (1, "failed", 0, 1, "AssertionError"),
        (2, "passed", 1, 1, ""),
    ]
    assert (tested[0]["cases"][0]["id"], tested[0]["cases"][0]["line"]) == (CASE, 5)
    finished = events[-1]
    assert set(finished) == {"event", *FINISHED}
    assert set(finished["usage"]) == USAGE
    assert (finished["solved"], finished["verified"], finished["reason"]) == (True, "verified", "solved")
    assert (finished["attempts"], finished["best"], finished["applied"]) == (2, 2, False)
    assert finished["diff"].startswith("--- a/m.py\n+++ b/m.py\n@@ ")
    assert "+    return x * 2\n" in finished["diff"]
    assert (events[0]["target"], events[0]["cases"], events[0]["baseline"]["status"]) == (CASE, [CASE], "failed")


@pytest.mark.parametrize(
    ("problem", "reason"),
    [
        (SettingsError("bad", remedy="r"), "settings"),
        (UsageError("bad", remedy="r"), "usage"),
        (CannotVerifyError("bad", remedy="r"), "cannot-verify"),
        (ModelError("bad", remedy="r"), "model"),
        (WorkspaceError("bad", remedy="r"), "workspace"),
    ],
)
def test_a_problem_ends_in_a_finished_object_and_a_sentence(fake, capsys, problem, reason):
    fake.result = problem
    main(["fix", CASE, "--json"])
    captured = capsys.readouterr()
    (finished,) = objects(captured.out)
    assert set(finished) == {"event", *FINISHED}
    assert (finished["event"], finished["solved"], finished["reason"], finished["message"]) == (
        "finished",
        False,
        reason,
        "bad",
    )
    assert (finished["remedy"], set(finished["usage"])) == ("r", USAGE)
    assert captured.err == "greenloop: bad\n  r\n"


def test_json_of_an_unexpected_problem_ends_the_same_way(fake, capsys):
    fake.result = RuntimeError("def secret(): ...")
    assert main(["fix", CASE, "--json"]) == 1
    captured = capsys.readouterr()
    (finished,) = objects(captured.out)
    assert (finished["solved"], finished["reason"]) == (False, "error")
    assert "secret" not in captured.out + captured.err


def test_json_of_a_wrong_setting_ends_the_same_way(fake, capsys):
    assert main(["fix", CASE, "--json", "--set", "attempts=none"]) == 2
    (finished,) = objects(capsys.readouterr().out)
    assert finished["reason"] == "settings"


def test_cancelled_json_tells_what_was_reached(fake, capsys):
    fake.hang_after = 6
    _signal_when_hanging(fake, signal.SIGINT)
    assert main(["fix", CASE, "--json"]) == 130
    finished = objects(capsys.readouterr().out)[-1]
    assert (finished["reason"], finished["attempts"], finished["solved"]) == ("cancelled", 1, False)


def _signal_when_hanging(fake, number) -> None:
    """The signal comes when the engine has nothing left to do but wait."""
    emitted = fake.events

    def events(attempts):
        made = emitted(attempts)
        asyncio.get_running_loop().call_later(0, os.kill, os.getpid(), number)
        return made

    fake.events = events


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_cancels_and_the_attempts_stay_in_the_history(fake, capsys, number):
    fake.hang_after = 6
    _signal_when_hanging(fake, number)
    before = signal.getsignal(number)
    assert main(["fix", CASE]) == 130
    assert signal.getsignal(number) is before
    assert "cancelled" in capsys.readouterr().out


def test_a_reader_that_goes_away_ends_the_run(fake):
    source, sink = os.pipe()
    os.close(source)
    fake.hang_after = 6
    with os.fdopen(sink, "w") as stream, contextlib.redirect_stdout(stream):
        assert main(["fix", CASE, "--json"]) == 1


# -- writing -----------------------------------------------------------------------------------------------------


def test_nothing_is_written_without_a_word_for_it(fake, project, capsys):
    assert main(["fix", CASE]) == 0
    assert (project / "m.py").read_text() == BEFORE
    captured = capsys.readouterr()
    assert "+    return x * 2" in captured.out
    assert "Not written" in captured.err


def test_apply_writes_and_says_where(fake, project, capsys):
    assert main(["fix", CASE, "--apply"]) == 0
    assert (project / "m.py").read_text() == AFTER
    assert "Written: m.py:2" in capsys.readouterr().out
    (record,) = History.open().runs()
    assert record.applied is not None


@pytest.mark.parametrize(
    ("answer", "text"), [("y", AFTER), ("yes", AFTER), ("n", BEFORE), ("", BEFORE), ("what", BEFORE)]
)
def test_at_a_terminal_the_user_is_asked(fake, project, keyboard, answer, text):
    keyboard.lines.append(answer)
    assert main(["fix", CASE]) == 0
    assert (project / "m.py").read_text() == text
    assert keyboard.lines == []


def test_json_never_asks(fake, project, keyboard):
    assert main(["fix", CASE, "--json"]) == 0
    assert (project / "m.py").read_text() == BEFORE


@pytest.mark.parametrize(
    ("change", "accept", "written", "code"),
    [
        ({"verified": Verified.PARTIALLY}, [], False, 1),
        ({"verified": Verified.PARTIALLY}, ["partial"], True, 0),
        ({"verified": Verified.UNVERIFIED}, ["partial"], False, 1),
        ({"verified": Verified.UNVERIFIED}, ["unverified"], True, 0),
        ({"evidence": Evidence(warnings=("it newly imports os",))}, [], False, 1),
        ({"evidence": Evidence(warnings=("it newly imports os",))}, ["warned"], True, 0),
        (
            {"evidence": Evidence(warnings=("it newly imports os",)), "verified": Verified.PARTIALLY},
            ["partial"],
            False,
            1,
        ),
    ],
)
def test_apply_writes_only_what_was_accepted(fake, project, capsys, change, accept, written, code):
    fake.result = solved(project, **change)
    assert main(["fix", CASE, "--apply", *(word for one in accept for word in ("--accept", one))]) == code
    assert (fake.settings[-1].apply == "partial") is ("partial" in accept)
    assert (project / "m.py").read_text() == (AFTER if written else BEFORE)
    assert ("not written, because" in capsys.readouterr().err) is not written
    (project / "m.py").write_text(BEFORE)
    # what is written makes no difference to the exit code
    assert main(["fix", CASE, *(word for one in accept for word in ("--accept", one))]) == code


def test_a_result_with_any_warning_is_not_said_to_add_risky_calls(fake, project, capsys):
    fake.result = solved(project, evidence=Evidence(warnings=("Beyond the tests, nothing compared it.",)))
    assert main(["fix", CASE, "--apply"]) == 1
    assert "not written, because it has a warning; --accept warned allows such results." in capsys.readouterr().err


def test_an_unsolved_run_writes_nothing_and_names_the_best_attempt(fake, project, capsys):
    fake.result = unsolved(before={"m.py": BEFORE}, after={"m.py": AFTER})
    assert main(["fix", CASE, "--apply"]) == 1
    assert (project / "m.py").read_text() == BEFORE
    assert "Best attempt: 1" in capsys.readouterr().out


def test_a_change_elsewhere_in_the_file_is_merged_and_verified_again(fake, project):
    typed = "import os\n\n\n" + BEFORE
    fake.meanwhile = lambda: (project / "m.py").write_text(typed)
    assert main(["fix", CASE, "--apply"]) == 0
    merged = typed.replace("x + 1", "x * 2")
    assert (project / "m.py").read_text() == merged
    assert fake.reverified == [{"m.py": merged.encode()}]


def test_a_merge_that_does_not_hold_writes_nothing(fake, project, capsys):
    typed = "\n\n" + BEFORE
    fake.meanwhile = lambda: (project / "m.py").write_text(typed)
    fake.again = Status.FAILED
    assert main(["fix", CASE, "--apply"]) == 1
    assert (project / "m.py").read_text() == typed
    assert "fails with that change" in capsys.readouterr().err


def test_a_change_at_the_same_place_writes_nothing(fake, project, capsys):
    typed = BEFORE.replace("+ 1", "+ 2")
    fake.meanwhile = lambda: (project / "m.py").write_text(typed)
    assert main(["fix", CASE, "--apply", "--json"]) == 1
    assert (project / "m.py").read_text() == typed
    captured = capsys.readouterr()
    finished = objects(captured.out)[-1]
    assert (finished["solved"], finished["applied"]) == (True, False)
    assert "m.py changed at the same place" in finished["message"]
    assert captured.err.count("greenloop: ") == 1
    assert fake.reverified == []


def test_a_file_deleted_during_the_run_is_not_brought_back(fake, project, capsys):
    fake.meanwhile = (project / "m.py").unlink
    assert main(["fix", CASE, "--apply"]) == 1
    assert not (project / "m.py").exists()
    assert "deleted during the run" in capsys.readouterr().err


@pytest.mark.parametrize(("again", "written"), [(Status.PASSED, True), (Status.FAILED, False)])
def test_a_test_changed_during_the_run_is_run_again(fake, project, again, written):
    newer = TEST + "    assert double(1) == 2\n"
    fake.meanwhile = lambda: (project / "test_m.py").write_text(newer)
    fake.again = again
    assert main(["fix", CASE, "--apply"]) == (0 if written else 1)
    assert (project / "m.py").read_text() == (AFTER if written else BEFORE)
    assert fake.reverified == [{"m.py": AFTER.encode(), "test_m.py": newer.encode()}]


def test_a_test_deleted_during_the_run_is_run_again_without_it(fake, project):
    fake.meanwhile = (project / "test_m.py").unlink
    fake.again = Status.NOT_COLLECTED
    assert main(["fix", CASE, "--apply"]) == 1
    assert (project / "m.py").read_text() == BEFORE
    assert fake.reverified == [{"m.py": AFTER.encode()}]


@pytest.mark.parametrize("text", ["# coding: latin-1\r\nX = 'é'\r\n", "\ufeffX = 'é'\n"])
def test_encoding_line_ends_and_mode_stay(fake, project, text):
    encoding = "latin-1" if "latin" in text else "utf-8"
    before, after = text + "y = 1\n", text + "y = 2\n"
    (project / "m.py").write_bytes(before.encode(encoding))
    (project / "m.py").chmod(0o755)
    bare = before.lstrip("\ufeff"), after.lstrip("\ufeff")
    fake.result = solved(project, before={"m.py": bare[0]}, after={"m.py": bare[1]})
    assert main(["fix", CASE, "--apply"]) == 0
    assert (project / "m.py").read_bytes() == after.encode(encoding)
    assert (project / "m.py").stat().st_mode & 0o777 == 0o755


def test_several_files_are_written_together_or_not_at_all(fake, project, capsys):
    (project / "z.py").write_text("z = 1\n")
    both = {
        "before": {"m.py": BEFORE, "z.py": "z = 1\n", "new.py": None},
        "after": {"m.py": AFTER, "z.py": "z = 2\n", "new.py": "n\n"},
    }
    fake.result = solved(project, **both)
    real = __import__("greenloop.api.result_files", fromlist=["x"]).write_atomically

    def second_fails(path, data, expected):
        if path.name == "z.py":
            raise WorkspaceError(f"{path} could not be written: the disk is full.")
        real(path, data, expected)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("greenloop.api.result_files.write_atomically", second_fails)
        assert main(["fix", CASE, "--apply"]) == 1
    assert "the disk is full" in capsys.readouterr().err
    assert ((project / "m.py").read_text(), (project / "z.py").read_text()) == (BEFORE, "z = 1\n")
    assert not (project / "new.py").exists()
    assert main(["history", "apply", "--yes"]) == 0
    assert ((project / "m.py").read_text(), (project / "z.py").read_text()) == (AFTER, "z = 2\n")
    assert (project / "new.py").read_text() == "n\n"


def test_written_tests_are_applied_with_the_code(fake, project, capsys):
    """A test file that grew and one in a folder that is not there yet."""
    grown = TEST + "\n\ndef test_double_of_0():\n    assert double(0) == 0\n"
    both = {
        "before": {"m.py": BEFORE, "test_m.py": TEST, "tests/unit/test_new.py": None},
        "after": {"m.py": AFTER, "test_m.py": grown, "tests/unit/test_new.py": "n = 1\n"},
    }
    fake.result = solved(project, **both)
    assert main(["fix", CASE, "--apply"]) == 0
    assert (project / "test_m.py").read_text() == grown
    assert (project / "tests/unit/test_new.py").read_text() == "n = 1\n"
    assert "tests/unit/test_new.py" in capsys.readouterr().out


@pytest.mark.skipif(os.name != "posix" or os.getuid() == 0, reason="root may write everywhere")
def test_a_read_only_workspace_loses_nothing(fake, project, capsys):
    project.chmod(0o555)
    try:
        assert main(["fix", CASE, "--apply"]) == 1
    finally:
        project.chmod(0o755)
    assert "could not be written" in capsys.readouterr().err
    assert main(["history", "apply", "--yes"]) == 0
    assert (project / "m.py").read_text() == AFTER


# -- people ------------------------------------------------------------------------------------------------------


def test_what_models_and_tests_say_cannot_drive_the_terminal(fake, project, capsys):
    evil = AFTER + "# \x1b]0;owned\x07 \u202e\n"
    fake.result = solved(project, after={"m.py": evil}, message="verified \x1b[31m")
    main(["fix", CASE])
    captured = capsys.readouterr()
    assert "\x1b" not in captured.out + captured.err
    assert "\u202e" not in captured.out
    assert "\\x1b]0;owned" in captured.out


def test_without_a_terminal_progress_is_plain_lines(fake, capsys):
    main(["fix", CASE])
    err = capsys.readouterr().err
    assert "opening the sandbox (bubblewrap)" in err
    assert "attempt 1/5: 0 of 1 tests pass, AssertionError test_m.py:5, 120 tokens, 1.1 s" in err
    assert "attempt 2/5: passed" in err


def test_an_unexpected_problem_is_one_line_and_a_log_without_its_message(fake, tmp_path, capsys):
    fake.result = RuntimeError("def secret(): the user's source")
    assert main(["fix", CASE]) == 1
    captured = capsys.readouterr()
    assert captured.err.count("\n") == 2  # what was going on, and this
    log = tmp_path / "state" / "greenloop" / "crash.log"
    assert str(log) in captured.err
    assert "Traceback" not in captured.err
    assert "secret" not in captured.err + log.read_text()
    assert "RuntimeError" in log.read_text()
    assert "in refine" in log.read_text()


def test_the_log_names_what_a_programmer_needs(fake, tmp_path):
    fake.result = AttributeError("'NoneType' object has no attribute 'x'")
    assert main(["fix", CASE]) == 1
    assert "has no attribute 'x'" in (tmp_path / "state" / "greenloop" / "crash.log").read_text()


# -- no model ----------------------------------------------------------------------------------------------------


@pytest.fixture
def modelless(fake, on_machine, monkeypatch):
    """The engine needs a model until one is named."""
    real = fake.refine

    async def refine(request, *, settings, **more):
        if not settings.model:
            raise none.needed()
        return await real(request, settings=settings, **more)

    on_machine(FixedMachine())
    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:1")
    fake.refine = refine
    return fake


def test_no_model_and_nobody_there_is_one_sentence(modelless, capsys):
    assert main(["fix", CASE]) == 3
    assert "greenloop: That needs a model: " in capsys.readouterr().err


def test_without_the_engine_no_download_is_offered(modelless, keyboard, on_machine, capsys):
    on_machine(FixedMachine(has_engine=False))
    assert main(["fix", CASE]) == 3
    assert keyboard.reads == 0
    assert "engine (xllamacpp) is not installed." in capsys.readouterr().err


def test_no_model_asks_once_and_goes_on(modelless, keyboard, monkeypatch, capsys):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-never-shown")
    keyboard.lines += ["ollama/small", "n"]
    assert main(["fix", CASE]) == 0
    assert modelless.settings[-1].model == "ollama/small"
    err = capsys.readouterr().err
    assert "OPENAI_API_KEY is set" in err
    assert "sk-never-shown" not in err


def test_a_model_is_asked_for_once_and_the_other_targets_still_run(modelless, keyboard, capsys):
    keyboard.lines.append("n")
    modelless.red = [CASE, "test_m.py::test_other"]
    modelless.result = unsolved(StopReason.MODEL, message=none.needed().advice)
    del modelless.refine  # its own: the result is that a model is needed
    assert main(["fix", "--all"]) == 3
    assert capsys.readouterr().out.count("That needs a model: ") == 2
    assert keyboard.reads == 1


def test_a_run_goes_on_with_the_model_that_the_user_names(modelless, keyboard, monkeypatch):
    requests = []

    async def refine(request, *, settings, **_more):
        requests.append((settings.model, request.earlier))
        return unsolved(StopReason.MODEL, run=7) if not settings.model else unsolved(StopReason.STALLED)

    modelless.refine = refine
    monkeypatch.setattr("greenloop.cli.fix_targets.read_unsolved_run", lambda number, _warn: f"run {number}")
    keyboard.lines.append("ollama/small")
    assert main(["fix", CASE]) == 1
    assert requests == [("", None), ("ollama/small", "run 7")]


def test_no_model_and_the_user_says_yes_fetches_it(modelless, keyboard, monkeypatch):
    pulled = []
    monkeypatch.setattr("greenloop.cli.first_model.show_download", lambda name, _download: pulled.append(name))
    keyboard.lines += ["y", "n"]
    assert main(["fix", CASE]) == 0
    assert (pulled, modelless.settings[-1].model) == (["the embedded model"], "local")


def test_no_model_and_the_user_says_no(modelless, keyboard, monkeypatch, capsys):
    assert main(["fix", CASE]) == 3
    assert "No model is available" in capsys.readouterr().err


# -- a capable model -----------------------------------------------------------------------------------------------


def test_a_look_is_an_object_and_part_of_its_attempt(fake, capsys):
    one = turn(1, *LOOKS, blemishes=(BLEMISH,), verdict=replace(verdict(Status.PASSED), turned_green=("t.py::a",)))
    fake.result = solved(None, attempts=(attempt(0), one), best=1)
    main(["fix", CASE, "--json"])
    events = objects(capsys.readouterr().out)
    assert events[0]["siblings"] == []
    looked = [event for event in events if event["event"] == "looked"]
    assert [(each["attempt"], each["tool"], each["summary"]) for each in looked] == [
        (1, look.call.name, look.summary) for look in LOOKS
    ]
    tested = next(event for event in events if event["event"] == "tested")
    assert [each["summary"] for each in tested["looks"]] == [look.summary for look in LOOKS]
    assert (tested["blemishes"], tested["turned_green"], tested["still_red"]) == ([BLEMISH], ["t.py::a"], [])
    assert events[-1]["notes"] == [BLEMISH]


def test_blemishes_of_the_result_are_notes_below_the_evidence(fake, capsys):
    one = turn(1, *LOOKS, blemishes=(BLEMISH,))
    fake.result = solved(None, attempts=(attempt(0), one), best=1)
    main(["fix", CASE])
    captured = capsys.readouterr()
    assert captured.out.endswith(f"proven apart 1/1.\nNote: {BLEMISH}\n")
    assert "  attempt 1/5 looks: read m.py\n" in captured.err
    assert "  1 question, 3 looks, 12,300 tokens (9,800 cached)\n" in captured.err
