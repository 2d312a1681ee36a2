"""What a session records, and which failures it goes on with."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from greenloop.plugins.pipelines.pytest_plugin.session import SessionRecorder

A, B = "t.py::test_a", "t.py::test_b"


@pytest.fixture
def recorder(tmp_path):
    """A recorder of a session; the processes that it starts are in `started`."""
    started: list[list[str]] = []

    def run(command, **_more):
        started.append(command[command.index("-m") + 1 :])

    made = SessionRecorder(config(tmp_path), run)
    made.started = started
    return made


def config(root, **options):
    values = {"refine": None, "refine_verify": False, "refine_seconds": 60.0, "dist": "no", **options}
    plugins = SimpleNamespace(getplugin=lambda _name: None)
    return SimpleNamespace(rootpath=root, option=SimpleNamespace(**values), pluginmanager=plugins)


def report(case, when="call", outcome="passed", **more):
    return SimpleNamespace(nodeid=case, when=when, outcome=outcome, duration=0.1, **more)


def run_tests(recorder, **outcomes):
    for name, outcome in outcomes.items():
        for when in ("setup", "call", "teardown"):
            recorder.pytest_runtest_logreport(report(f"t.py::{name}", when, outcome if when == "call" else "passed"))


def test_every_failure_is_refined_in_order(recorder, tmp_path):
    run_tests(recorder, test_a="failed", test_b="passed", test_c="failed")
    recorder.pytest_unconfigure(config(tmp_path, refine="all"))
    assert [words[:3] for words in recorder.started] == [
        ["greenloop", "fix", A],
        ["greenloop", "fix", "t.py::test_c"],
    ]
    assert all(0 < float(words[words.index("--seconds") + 1]) <= 60 for words in recorder.started)


def test_a_test_that_passes_when_it_runs_again_is_none(recorder, tmp_path):
    run_tests(recorder, test_a="rerun")
    run_tests(recorder, test_a="passed")
    recorder.pytest_unconfigure(config(tmp_path, refine="all"))
    assert recorder.started == []


@pytest.mark.parametrize(("error", "goes_on"), [(KeyboardInterrupt, False), (pytest.Session.Interrupted, True)])
def test_nothing_happens_after_ctrl_c_but_after_a_session_that_stops_itself(recorder, tmp_path, error, goes_on):
    run_tests(recorder, test_a="failed")
    recorder.pytest_keyboard_interrupt(SimpleNamespace(type=error, value=error("x")))
    recorder.pytest_unconfigure(config(tmp_path, refine="all", refine_verify=True))
    assert bool(recorder.started) is goes_on


def test_groups_of_xdist_are_no_part_of_an_id(tmp_path):
    started = []
    grouped = SessionRecorder(config(tmp_path, dist="loadgroup"), lambda words, **_more: started.append(words))
    run_tests(grouped, **{"test_a@database": "failed"})
    grouped.pytest_unconfigure(config(tmp_path, refine="all"))
    assert A in started[0]


def test_the_answers(tmp_path):
    asked, started = [], []

    def ask(question, _out):
        asked.append(question)
        return {A: "n", B: "y"}.get(question.split()[2].rstrip("?"), "q")

    recorder = SessionRecorder(config(tmp_path), lambda words, **_more: started.append(words), lambda: True, ask)
    run_tests(recorder, test_a="failed", test_b="failed", test_c="failed", test_d="failed")
    recorder.pytest_unconfigure(config(tmp_path, refine="ask"))
    assert [B in words for words in started] == [True]
    assert "--seconds" not in started[0]
    assert len(asked) == 3


def test_a_process_that_cannot_be_started_is_one_sentence(tmp_path, capsys):
    def run(*_words, **_more):
        raise OSError(12, "no memory")

    recorder = SessionRecorder(config(tmp_path), run)
    run_tests(recorder, test_a="failed")
    recorder.pytest_unconfigure(config(tmp_path, refine="all"))
