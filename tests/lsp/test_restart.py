"""What earlier servers left in the history: offered again where it still fits, never twice, never another's."""

import sqlite3
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from greenloop.core.records.attempt import Attempt, Candidate
from greenloop.core.records.model import Usage
from greenloop.core.records.outcome import Evidence, Outcome, StopReason, Verified
from greenloop.core.records.spec import Case, Region, Spec
from greenloop.core.records.verdict import Status, Verdict
from greenloop.engine.history.provenance import current_basis
from greenloop.engine.history.store import History
from greenloop.plugins.past_runs.earlier_runs import OLDEST
from greenloop_sandbox import CaseResult, Environment, Failure, SandboxSpec

from .conftest import EVERYTHING, FILES, Editor, stand_in, without

FIXED = "def double(x):\n    return x * 2\n"
TEST = "test_m.py::test_double"
REGION = Region(path="m.py", qualname="double", start=1, end=2)
SPEC = Spec(cases=(Case(id=TEST, path="test_m.py", line=4),), selectors=(TEST,))


def attempt(number, expression, *, passed=False):
    failure = None if passed else Failure(type="AssertionError", message=f"attempt {number} is wrong")
    case = CaseResult(id=TEST, outcome="passed" if passed else "failed", failure=failure)
    return Attempt(
        number=number,
        parent=number - 1 if number else None,
        model="play" if number else "",
        candidate=Candidate(texts={REGION: f"def double(x):\n    return {expression}\n"}) if number else None,
        verdict=Verdict(status=Status.PASSED if passed else Status.FAILED, cases=(case,)),
        error_class="" if passed else "AssertionError",
        usage=Usage(prompt_tokens=300, completion_tokens=20),
    )


ATTEMPTS = (attempt(0, ""), attempt(1, "x * 3"), attempt(2, "x * 2", passed=True))
SOLVED = Outcome(
    solved=True,
    verified=Verified.VERIFIED,
    reason=StopReason.SOLVED,
    message="",
    attempts=ATTEMPTS,
    best=2,
    before={"m.py": FILES["m.py"]},
    after={"m.py": FIXED},
    evidence=Evidence(sandbox="play", cases={"user": (1, 1)}),
)


@pytest.fixture
def kept(project, tmp_path):
    """Keeps runs of a server that is gone."""
    path = tmp_path / "state" / "greenloop" / "history.sqlite3"

    def keep(outcome=SOLVED, *, attempts=ATTEMPTS, target=TEST, applied=False, age=0.0, alive=False):
        history = History.open(path)
        python = Environment(
            executable=Path(sys.executable),
            prefix=Path(sys.prefix),
            base=Path(sys.base_prefix),
            version=(3, 11),
            source="test",
            has_pytest=True,
        )
        basis = replace(current_basis(SandboxSpec(root=project, environment=python)), spec=SPEC)
        number = history.start_run(project, target, preset="default", model="play", sandbox="play", basis=basis)
        for each in attempts:
            history.save_attempt(number, each)
        if outcome is not None:
            history.finish_run(number, outcome)
        if applied:
            history.mark_applied(number)
        history.close()
        with sqlite3.connect(path) as connection:
            connection.execute("UPDATE runs SET started = ? WHERE id = ?", (time.time() - age, number))
            if not alive:
                connection.execute("UPDATE runs SET born = 1 WHERE id = ?", (number,))
        return number

    keep.path = path
    return keep


def record(kept, number):
    history = History.open(kept.path)
    try:
        return history.run(number)
    finally:
        history.close()


async def begin(editor, **options):
    await editor.start(**options)
    await editor.call("test/settled")


async def titles(editor, **where):
    return [each["title"] for each in await editor.actions(**where)]


async def applies(editor, **where):
    return [title for title in await titles(editor, **where) if title.startswith("Apply")]


@pytest.mark.story("a result is offered again after a restart")
async def test_a_solved_result_is_offered_again_and_lands(editor, kept):
    number = kept()
    await begin(editor)
    (title,) = await applies(editor)
    assert title.startswith("Apply refined double (verified)")
    hover = (await editor.hover())["value"]
    assert "attempt 1 is wrong" in hover
    assert not editor.shown()
    await editor.action("Apply refined double")
    await editor.told("Changed m.py:2")
    assert editor.text("m.py") == FIXED
    await editor.call("test/settled")
    assert record(kept, number).applied
    assert not await applies(editor)


async def test_in_a_file_that_lies_in_no_folder_of_the_workspace(editor, kept):
    """An editor that was started for a single file knows no folder."""
    kept()
    params = {"processId": None, "rootUri": None, "capabilities": EVERYTHING}
    await editor.call("initialize", params | {"initializationOptions": {"model": "play:solve"}})
    editor.notify("initialized", {})
    for name in FILES:
        editor.open(name)
    await editor.call("test/settled")
    assert await applies(editor)
    await editor.action("Apply refined double")
    await editor.told("Changed m.py:2")


async def test_what_an_action_puts_in_by_itself_is_kept_as_applied(editor, kept):
    """Editors that take edits only from actions say nothing of it."""
    number = kept()
    await begin(editor, capabilities=without(EVERYTHING, "workspace.applyEdit"))
    (carried,) = [each for each in await editor.actions() if each["title"].startswith("Apply")]
    editor.change("m.py", "X = 1\n" + FILES["m.py"])
    await editor.call("test/settled")
    assert not record(kept, number).applied
    editor.change("m.py", FILES["m.py"])
    (carried,) = [each for each in await editor.actions() if each["title"].startswith("Apply")]
    editor.apply({"edit": carried["edit"]})
    await editor.told("Changed m.py:2")
    await editor.call("test/settled")
    assert record(kept, number).applied


async def test_an_action_may_put_it_into_a_file_that_is_opened_for_it(editor, kept):
    """ALE opens the file in a buffer, changes that, and tells of it as it is then."""
    number = kept()
    await editor.start(without(EVERYTHING, "workspace.applyEdit"), opened=("test_m.py",))
    await editor.call("test/settled")
    assert [title for title in await titles(editor) if title.startswith("Apply")]
    editor.open("m.py", FIXED)
    await editor.told("Changed m.py:2")
    await editor.call("test/settled")
    assert record(kept, number).applied


async def test_a_view_of_runs_gets_it_by_itself(editor, kept):
    kept()
    await editor.start({**EVERYTHING, "experimental": {"greenloop": {"runs": True}}})
    told = await editor.wait(lambda m: m.get("method") == "greenloop/runs" and m["params"]["runs"], "runs")
    (run,) = told["params"]["runs"]
    assert (run["target"], run["phase"], run["offered"], run["result"]) == (TEST, "over", True, 2)
    found = await editor.call("greenloop/attempt", {"uri": run["uri"], "target": run["target"], "attempt": 2})
    assert found == {"files": [{"uri": editor.uri("m.py"), "text": FIXED}]}


async def test_on_the_function_as_well(editor, kept):
    kept()
    await begin(editor)
    assert await applies(editor, name="m.py", line=0)


@pytest.mark.story("a result is offered again after a restart")
async def test_what_stands_in_the_file_already_is_not_offered(editor, kept, project):
    kept()
    (project / "m.py").write_text("import os\n\n\n" + FIXED)
    await begin(editor)
    assert not await applies(editor)
    assert await editor.hover() is None


async def test_what_does_not_fit_any_more_is_not_offered(editor, kept, project):
    kept()
    (project / "m.py").write_text(FILES["m.py"].replace("x + 1", "x + x + 1"))
    await begin(editor)
    assert not await applies(editor)


@pytest.mark.story("a result is offered again after a restart")
async def test_moved_on_meanwhile_it_is_merged_and_verified_again(editor, kept, project):
    kept()
    (project / "m.py").write_text("import os\n\n\n" + FILES["m.py"])
    await begin(editor)
    await editor.action("Apply refined double")
    await editor.told("together with your edits. Changed m.py:5")
    assert editor.text("m.py") == "import os\n\n\n" + FIXED
    assert len((await editor.state())["reverified"]) == 1


async def test_its_tests_are_others_now_and_are_asked_before_it_lands(editor, kept, project):
    kept()
    (project / "test_m.py").write_text(FILES["test_m.py"] + "    assert double(0) == 0\n")
    await begin(editor)
    await editor.action("Apply refined double")
    await editor.told("Changed m.py:2")
    (asked,) = (await editor.state())["reverified"]
    assert asked == {"m.py": FIXED, "test_m.py": editor.text("test_m.py")}


async def test_its_tests_are_others_now_and_fail(editor, kept, project):
    kept()
    (project / "test_m.py").write_text(FILES["test_m.py"] + "    BREAK = 1\n")
    await begin(editor)
    await editor.action("Apply refined double")
    await editor.told("the result fails with that change")
    assert not editor.edits


async def test_applied_and_never_saved_it_is_offered_again(editor, kept):
    """The server's and the editor's death took the buffer along."""
    kept(applied=True)
    await begin(editor)
    assert await applies(editor)


async def test_applied_and_worked_on_it_is_not(editor, kept, project):
    kept(applied=True)
    (project / "m.py").write_text("import os\n\n\n" + FILES["m.py"])
    await begin(editor)
    assert not await applies(editor)


async def test_what_belongs_to_a_server_that_lives_is_left_to_it(editor, kept):
    kept(alive=True)
    await begin(editor)
    assert not await applies(editor)


async def test_a_run_under_way_elsewhere_is_left_alone(editor, kept):
    number = kept(None, alive=True)
    await begin(editor)
    assert await editor.hover() is None
    assert record(kept, number).state == "running"


@pytest.mark.parametrize("reason", [StopReason.CANCELLED, StopReason.ALREADY_GREEN])
async def test_what_the_user_ended_or_never_needed_is_not_offered(editor, kept, reason):
    kept(replace(SOLVED, solved=False, reason=reason))
    await begin(editor)
    assert not await applies(editor)


async def test_older_than_a_week_it_is_history_only(editor, kept):
    kept(age=OLDEST + 60)
    await begin(editor)
    assert not await applies(editor)


async def test_only_the_newest_of_a_target_counts(editor, kept):
    kept()
    kept(replace(SOLVED, solved=False, reason=StopReason.STALLED, best=None, before={}, after={}))
    await begin(editor)
    assert not await applies(editor)


async def test_discarded_it_does_not_come_back(editor, kept, tmp_path, project):
    kept()
    await begin(editor)
    await editor.action("Discard attempts")
    await editor.call("test/settled")
    assert not await applies(editor)
    await editor.stop()
    second = Editor(await stand_in(tmp_path), project)
    await begin(second)
    assert not await applies(second)
    assert await second.stop() == 0
    second.reader.cancel()


@pytest.mark.story("a result is offered again after a restart")
async def test_an_interrupted_run_shows_its_attempts_and_offers_the_best(editor, kept, project):
    """Killed in the middle: nothing is left on the screen, the history says what became of it."""
    number = kept(None, attempts=ATTEMPTS[:2])
    await begin(editor)
    assert record(kept, number).state == "interrupted"
    published = editor.got("textDocument/publishDiagnostics")
    assert {each["uri"] for each in published} >= {editor.uri("m.py"), editor.uri("test_m.py")}
    assert not any(each["diagnostics"] for each in published)
    hover = (await editor.hover())["value"]
    assert "attempt 1 is wrong" in hover
    assert "interrupted" in hover
    assert "Show attempts: test_double" in await titles(editor)
    await editor.action("Apply refined double (not verified")
    await editor.told("Best attempt applied")
    assert "x * 3" in editor.text("m.py")


async def test_the_best_of_an_interrupted_run_is_not_offered_over_another_text(editor, kept, project):
    kept(None, attempts=ATTEMPTS[:2])
    (project / "m.py").write_text("import os\n\n\n" + FILES["m.py"])
    await begin(editor)
    assert not await applies(editor)
    assert "attempt 1 is wrong" in (await editor.hover("test_m.py", 3))["value"]


async def test_the_text_with_other_line_ends_is_the_same(editor, kept, project):
    (project / "m.py").write_bytes(FILES["m.py"].replace("\n", "\r\n").encode())
    kept(None, attempts=ATTEMPTS[:2])
    await editor.start(opened=())
    editor.open("m.py", FILES["m.py"])
    editor.open("test_m.py")
    await editor.call("test/settled")
    assert await applies(editor)


async def test_a_new_run_of_the_target_takes_its_place(editor, kept):
    kept(None, attempts=ATTEMPTS[:2])
    await begin(editor)
    await editor.action("Refine")
    await editor.told("Changed m.py:2")
    assert not await applies(editor)


async def test_its_target_is_gone(editor, kept, project):
    kept()
    (project / "test_m.py").write_text("X = 1\n")
    await begin(editor)
    assert not await applies(editor, name="m.py", line=0)


async def test_the_preset_that_writes_results_by_hand_is_offered_too(editor, kept):
    """A result that the command line never wrote."""
    kept(target="m.py::double")
    await begin(editor)
    assert await applies(editor, name="m.py", line=0)


@pytest.mark.story("the history opens")
async def test_a_history_that_cannot_be_read_is_no_trouble(editor, kept):
    kept()
    kept.path.write_bytes(b"no database" * 1000)
    await begin(editor)
    assert (await editor.call("greenloop/refine", {"uri": editor.uri("test_m.py"), "test": TEST}))["applied"]
