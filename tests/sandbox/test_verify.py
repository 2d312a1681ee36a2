"""`greenloop verify` behind a real wall: an honest pass is one, and nothing else is."""

from __future__ import annotations

import contextlib
import json
import os
import py_compile
import stat
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from xml.etree import ElementTree as ET

import pytest

from git_program import commit_all
from greenloop.cli.main import main
from greenloop.core.errors import BaselineChangedError, CannotVerifyError, UsageError
from greenloop.core.records.attempt import Attempt
from greenloop.core.records.outcome import Evidence, Outcome, StopReason, Verified
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Case, Provenance, Spec
from greenloop.core.records.verdict import Status, Verdict
from greenloop.engine import sandbox_spec
from greenloop.engine.history import provenance
from greenloop.engine.history.store import History
from greenloop.engine.verify.report import State
from greenloop.engine.verify.setup import VerifyRequest
from greenloop.engine.verify.verify import verify
from greenloop.project.settings import SandboxSettings, Settings
from project_files import write_files

with contextlib.suppress(ModuleNotFoundError):  # `make core` has no plugins
    from greenloop.plugins.replay.replay import replay

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(240)]

FILES = {
    "pytest.ini": "[pytest]\npythonpath = .\n",
    "m.py": "def double(x):\n    return x + 1\n\n\ndef one():\n    return 1\n",
    "tests/test_m.py": (
        "from m import double, one\n\n\n"
        "def test_double():\n    assert double(5) == 10\n\n\n"
        "def test_one():\n    assert one() == 1\n"
    ),
    ".gitignore": "__pycache__\n",
}
RIGHT = FILES["m.py"].replace("x + 1", "x * 2")
NO_EVIDENCE = Evidence()
DOUBLE, ONE = "tests/test_m.py::test_double", "tests/test_m.py::test_one"


@pytest.fixture
def work(tmp_path) -> Path:
    root = tmp_path / "a project"
    root.mkdir()
    write_files(root, FILES)
    commit_all(root)
    return root


@pytest.fixture
def settings(bare_python) -> Settings:
    return Settings(interpreter=str(bare_python), sandbox=SandboxSettings(kind="bubblewrap"))


@pytest.fixture
def check(work, settings):
    async def run(*targets: str, **more):
        return await verify(VerifyRequest(root=work, targets=targets, **more), settings=settings)

    return run


@pytest.fixture
def command(work, monkeypatch, capsys):
    """`greenloop verify` with words, in the workspace: exit code, standard output, standard error."""
    monkeypatch.chdir(work)
    monkeypatch.setenv("GREENLOOP_SANDBOX_KIND", "bubblewrap")

    def run(*words: str) -> tuple[int, str, str]:
        code = main(["verify", *words])
        out, err = capsys.readouterr()
        return code, out, err

    return run


# -- honest -------------------------------------------------------------------------------------------------------


@pytest.mark.story("verify passes only what is honest")
async def test_an_honest_change_is_verified(work, check):
    write_files(work, {"m.py": RIGHT})
    found = await check()
    assert (found.verified, found.reason) == (True, "")
    assert found.fixed == (DOUBLE,)
    assert (set(found.apart), found.together, found.unearned) == ({DOUBLE, ONE}, {}, {})
    assert (found.failed, found.tampered, found.changed) == ((), (), ())
    assert found.before == {DOUBLE: "failed", ONE: "passed"}
    assert (found.sandbox, found.network) == ("bubblewrap", False)
    assert not (work / ".git/index.lock").exists()


async def test_subtests_are_honest(work, check):
    text = (
        "import unittest\n\nfrom m import double\n\n\nclass T(unittest.TestCase):\n    def test_all(self):\n"
        "        for x in range(3):\n            with self.subTest(x=x):\n                self.assertEqual(double(x), 2 * x)\n"
    )
    write_files(work, {"tests/test_s.py": text})
    commit_all(work)
    found = await check("tests/test_s.py")
    assert found.failed == ("tests/test_s.py::T::test_all",)
    write_files(work, {"m.py": RIGHT})
    found = await check("tests/test_s.py")
    assert found.verified, found.reason


async def test_what_was_red_may_stay_red_where_it_is_not_asked_for(work, check):
    write_files(work, {"m.py": FILES["m.py"] + "\n\nDONE = True\n"})
    found = await check()
    assert found.verified, found.reason
    assert found.already_failing == (DOUBLE,)
    found = await check(DOUBLE)
    assert not found.verified
    assert found.failed == (DOUBLE,)


async def test_what_is_flaky_at_the_commit_is_named_and_may_be_known(work, check):
    flaky = "def test_order():\n    assert list({'a', 'b', 'c', 'd', 'e', 'f'}) == ORDER\n"
    seeded = subprocess.run(
        [sys.executable, "-c", "print(list({'a', 'b', 'c', 'd', 'e', 'f'}))"],
        env={"PYTHONHASHSEED": "0"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    write_files(work, {"tests/test_f.py": f"ORDER = {seeded}\n\n{flaky}"})
    commit_all(work)
    write_files(work, {"m.py": RIGHT})
    found = await check()
    assert found.before["tests/test_f.py::test_order"] == "passed"
    assert found.flaky == ("tests/test_f.py::test_order",)
    assert found.verified, found.reason
    assert found.already_failing == found.flaky
    assert not (await check("tests")).verified


@pytest.mark.story("verify passes only what is honest")
async def test_what_newly_fails_is_named(work, check):
    write_files(work, {"m.py": RIGHT.replace("return 1", "return 2")})
    found = await check()
    assert not found.verified
    assert found.failed == (ONE,)
    assert ONE in found.reason


async def test_tests_for_code_that_the_commit_does_not_have_yet(work, check):
    write_files(work, {"tests/test_n.py": "from n import two\n\n\ndef test_two():\n    assert two() == 2\n"})
    commit_all(work)
    write_files(work, {"n.py": "def two():\n    return 2\n"})
    found = await check("tests/test_n.py")
    assert found.verified, found.reason
    assert found.fixed == ("tests/test_n.py::test_two",)
    write_files(work, {"n.py": "def two():\n    return 3\n"})
    found = await check("tests/test_n.py")
    assert not found.verified


async def test_new_tests_run_apart_from_the_others(work, check):
    write_files(work, {"m.py": RIGHT, "tests/test_new.py": "def test_new():\n    assert 0\n"})
    found = await check("tests/test_m.py")
    assert found.verified
    assert found.added == ("tests/test_new.py",)
    assert found.new.cases == ()
    found = await check()
    assert not found.verified
    assert [(case.id, case.outcome) for case in found.new.cases] == [("tests/test_new.py::test_new", "failed")]
    write_files(
        work,
        {
            "tests/test_new.py": "import pytest\n\n\ndef test_new():\n    pass\n\n\n@pytest.mark.skip\ndef test_s():\n    pass\n"
        },
    )
    found = await check()
    assert found.verified, found.reason
    assert found.new.passes == ()


# -- other tests than the commit's ----------------------------------------------------------------------------------


async def test_a_change_of_tests_alone_is_not_verified(work, check):
    write_files(work, {"tests/test_m.py": FILES["tests/test_m.py"].replace("== 10", "== 6")})
    found = await check()
    assert not found.verified
    assert found.changed == ("tests/test_m.py",)
    assert "no code was changed" in found.reason
    found = await check(DOUBLE)
    assert found.failed == (DOUBLE,)


@pytest.mark.story("verify passes only what is honest")
async def test_the_commits_version_of_a_changed_test_file_is_used(work, check):
    write_files(
        work, {"m.py": RIGHT.replace("return 1", "return 2"), "tests/test_m.py": "def test_double():\n    pass\n"}
    )
    found = await check()
    assert found.failed == (ONE,)
    assert found.changed == ("tests/test_m.py",)


async def test_a_deleted_test_file_is_named_and_run(work, check):
    write_files(work, {"m.py": RIGHT.replace("return 1", "return 2")})
    (work / "tests/test_m.py").unlink()
    found = await check()
    assert found.removed == ("tests/test_m.py",)
    assert found.failed == (ONE,)


@pytest.mark.story("verify passes only what is honest")
async def test_a_conftest_and_configuration_that_force_a_pass_are_not_used(work, check):
    hook = (
        "import pytest\n\n\n@pytest.hookimpl(hookwrapper=True)\ndef pytest_pyfunc_call(pyfuncitem):\n"
        "    (yield).force_result(True)\n"
    )
    write_files(
        work,
        {
            "conftest.py": hook,
            "tests/conftest.py": hook,
            "sitecustomize.py": "import os\nos._exit(0)\n",
            "pytest.ini": "[pytest]\npythonpath = .\naddopts = --deselect " + DOUBLE + "\n",
        },
    )
    found = await check(DOUBLE)
    assert found.failed == (DOUBLE,)
    assert not found.tampered
    assert set(found.added) == {"conftest.py", "tests/conftest.py", "sitecustomize.py"}
    assert found.changed == ("pytest.ini",)
    write_files(work, {"m.py": RIGHT})
    found = await check()
    assert (found.failed, found.tampered, set(found.apart)) == ((), (), {DOUBLE, ONE})
    assert [each.path for each in found.edits] == ["conftest.py", "pytest.ini", "sitecustomize.py", "tests/conftest.py"]
    assert found.reason.startswith("The change adds conftest.py, which judges it")


async def test_bytecode_that_is_believed_without_its_source_is_not_used(work, check):
    write_files(
        work,
        {
            "tests/helper.py": "WANTED = 10\n",
            "tests/test_m.py": "from helper import WANTED\nfrom m import double\n\n\ndef test_double():\n    assert double(5) == WANTED\n",
        },
    )
    commit_all(work)
    evil = work.parent / "evil.py"
    evil.write_text("WANTED = 6\n")
    # bare_python is of the same version as the Python that runs these tests.
    cached = work / f"tests/__pycache__/helper.{sys.implementation.cache_tag}.pyc"
    py_compile.compile(str(evil), str(cached), invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
    found = await check("tests/test_m.py")
    assert found.failed == (DOUBLE,)


# -- fakes ----------------------------------------------------------------------------------------------------------


@pytest.mark.story("verify passes only what is honest")
async def test_ending_the_process_is_tampering(work, check):
    write_files(work, {"m.py": RIGHT.replace("    return x * 2", "    import os\n    os._exit(0)")})
    found = await check()
    assert not found.verified
    assert found.tampered
    assert "exited with status 0" in found.reason


async def test_an_answer_that_equals_everything_proves_nothing(work, check):
    write_files(
        work,
        {
            "m.py": "class All:\n    def __eq__(self, other):\n        return True\n    __hash__ = None\n\n\n"
            "def double(x):\n    return All()\n\n\ndef one():\n    return 1\n"
        },
    )
    found = await check()
    assert (found.state, list(found.unearned)) == (State.PARTIALLY, [DOUBLE])
    found = await check(require="apart")
    assert (found.verified, list(found.unearned)) == (False, [DOUBLE])


# -- what cannot be verified ------------------------------------------------------------------------------------------


async def test_a_missing_package_is_the_environments_fault(work, check):
    write_files(work, {"tests/test_m.py": "import numpy\n\n\ndef test_a():\n    pass\n"})
    commit_all(work)
    with pytest.raises(CannotVerifyError, match="numpy"):
        await check()


async def test_a_generated_module_is_named_and_can_be_kept(work, check):
    write_files(work, {"m.py": "from _version import V\n" + FILES["m.py"], ".gitignore": "_version.py\n"})
    commit_all(work)
    write_files(work, {"_version.py": "V = 1\n", "m.py": "from _version import V\n" + RIGHT})
    with pytest.raises(CannotVerifyError) as caught:
        await check()
    assert "--keep _version.py" in caught.value.remedy
    found = await check(keep=("_version.py",))
    assert found.verified, found.reason
    assert found.kept == ("_version.py",)


async def test_targets_that_the_commit_does_not_have(work, check):
    write_files(work, {"tests/test_new.py": "def test_new():\n    pass\n"})
    with pytest.raises(UsageError, match="not in HEAD") as caught:
        await check("tests/test_new.py")
    assert "--allow-test-change tests/test_new.py" in caught.value.remedy
    with pytest.raises(UsageError, match="no test"):
        await check("tests/test_m.py::test_nothing")
    with pytest.raises(UsageError, match="There is no"):
        await check("tests/test_z.py")


async def test_files_that_change_meanwhile_end_it(work, settings):
    def report_status(sentence: str) -> None:
        if "fresh sandbox" in sentence:
            write_files(work, {"m.py": RIGHT + "\n\n# later\n"})

    write_files(work, {"m.py": RIGHT})
    with pytest.raises(BaselineChangedError):
        await verify(VerifyRequest(root=work), settings=settings, report_status=report_status)


async def test_without_a_sandbox_nothing_is_verified(work, bare_python):
    write_files(work, {"m.py": RIGHT})
    settings = Settings(interpreter=str(bare_python), sandbox=SandboxSettings(kind="none", unsafe=True))
    found = await verify(VerifyRequest(root=work), settings=settings)
    assert not found.verified
    assert "without a sandbox" in found.reason
    assert not found.failed


# -- the command ------------------------------------------------------------------------------------------------------


@pytest.mark.story("verify passes only what is honest")
def test_the_command_in_a_repository_full_of_traps(work, command, tmp_path):
    mark, script = tmp_path / "sprung", tmp_path / "trap.sh"
    script.write_text(f"#!/bin/sh\ntouch '{mark}'\ncat\n")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    for name in ("post-index-change", "reference-transaction"):
        os.link(script, work / ".git/hooks" / name)
    write_files(work, {".git/info/attributes": "* filter=evil diff=evil\n"})
    for key in (
        "core.fsmonitor",
        "core.pager",
        "diff.external",
        "diff.evil.textconv",
        "filter.evil.smudge",
        "filter.evil.clean",
    ):
        subprocess.run(["git", "config", key, str(script)], cwd=work, check=True)
    mark.unlink(missing_ok=True)
    write_files(work, {"m.py": RIGHT, "tests/test_m.py": "changed\n"})
    code, out, err = command("--json", "--junit", "report.xml", "--base", "HEAD", "tests")
    assert code == 1, err
    assert not mark.exists()
    value = json.loads(out)
    assert value["state"] == "edits_tests"
    assert {case["id"]: (case["before"], case["outcome"]) for case in value["cases"]} == {
        DOUBLE: ("failed", "passed"),
        ONE: ("passed", "passed"),
    }
    assert value["tampered"] == []
    assert value["changed_tests"] == [{"path": "tests/test_m.py", "change": "changed"}]
    assert len(value["base"]) == 40
    assert value["seconds"] > 0
    assert "running" in err
    assert "running" not in out
    suite = ET.parse(work / "report.xml").getroot()[0]
    assert (suite.get("tests"), suite.get("failures")) == ("3", "1")


def test_the_command_says_what_was_tampered_with(work, command):
    write_files(work, {"m.py": "import os\nos._exit(0)\n"})
    code, out, _err = command("--junit", "report.xml")
    assert code == 1
    assert out.startswith("Tampered: ")
    suite = ET.parse(work / "report.xml").getroot()[0]
    assert int(suite.get("failures", "0")) >= 1
    assert suite.find(".//failure[@type='tampered']") is not None


# -- a past result once more -------------------------------------------------------------------------------------------


@pytest.fixture
async def past(work, settings) -> int:
    """A run in the history that turned `double` right."""
    return await past_run(work, settings)


async def past_run(
    work: Path,
    settings: Settings,
    evidence: Evidence = NO_EVIDENCE,
    more: Sequence[Case] = (),
    after: Mapping[str, str] = MappingProxyType({"m.py": RIGHT}),
    **case,
) -> int:
    _sandbox, place = await sandbox_spec.choose_sandbox(work, settings)
    spec = Spec(cases=(Case(id=DOUBLE, path="tests/test_m.py", line=4, **case), *more), selectors=(DOUBLE,))
    problem = Problem(root=work, spec=spec, regions=(), originals={}, files={}, neighbours=(ONE,))
    history = History.open()
    number = history.start_run(
        work,
        DOUBLE,
        preset="plain",
        model="m",
        sandbox="bubblewrap",
        basis=provenance.run_basis(place, problem, {DOUBLE: "failed", ONE: "passed"}),
    )
    attempt = Attempt(number=0, verdict=Verdict(status=Status.FAILED))
    outcome = Outcome(
        solved=True,
        verified=Verified.VERIFIED,
        reason=StopReason.SOLVED,
        message="",
        attempts=(attempt,),
        before={"m.py": FILES["m.py"]},
        after=dict(after),
        evidence=evidence,
    )
    history.finish_run(number, outcome)
    history.close()
    assert number is not None
    return number


async def test_a_past_result_holds_again(work, past, settings):
    found = await replay(past, settings=lambda _root: settings)
    assert found.verified, found.reason
    assert found.fixed == (DOUBLE,)
    assert found.apart == (DOUBLE,)
    assert found.changes == ()


async def test_a_past_result_says_what_changed_around_it(work, past, settings, bare_python):
    write_files(work, {"m.py": "SOMETHING = 'else'\n", "n.py": "N = 1\n"})
    site = next((bare_python.parent.parent / "lib").glob("python*/site-packages"))
    (site / "added-1.0.dist-info").mkdir()
    try:
        found = await replay(past, settings=lambda _root: settings)
    finally:
        (site / "added-1.0.dist-info").rmdir()
    assert found.verified, found.reason
    told = " ".join(found.changes)
    assert "n.py" in told
    assert "m.py has been changed since" in told
    assert "+added-1.0" in told


@pytest.mark.parametrize(
    ("evidence", "case", "words"),
    [
        (NO_EVIDENCE, {"provenance": Provenance.HINT}, "type hint tests"),
        (Evidence(neighbours_left_out=7), {}, "7 not run"),
    ],
    ids=["tests that are nobody's word", "related tests that never ran"],
)
async def test_a_past_result_that_is_not_fully_verified_is_none(work, settings, evidence, case, words):
    found = await replay(await past_run(work, settings, evidence, **case), settings=lambda _root: settings)
    assert not found.verified
    assert found.failed == ()
    assert found.reason.startswith("All passed, but the evidence is partial: Partially verified in bubblewrap")
    assert words in found.reason


async def test_a_past_result_that_sees_its_tests_is_not_verified(work, settings):
    reading = "def double(x):\n    return int(open('tests/test_m.py').read().partition('== ')[2][:2])\n"
    after = {"m.py": reading + FILES["m.py"].partition("x + 1\n")[2]}
    found = await replay(await past_run(work, settings, after=after), settings=lambda _root: settings)
    assert (found.verified, [each.case for each in found.tampered]) == (False, [DOUBLE])


@pytest.mark.parametrize("approved", [1, 0])
async def test_an_approval_of_the_past_result_still_counts(work, settings, approved):
    human = Case(id="human::looks right", path="m.py", line=1, provenance=Provenance.HUMAN)
    evidence = Evidence(cases={Provenance.HUMAN: (approved, 1)}, warnings=("It newly imports os in m.py.",))
    found = await replay(await past_run(work, settings, evidence, [human]), settings=lambda _root: settings)
    assert found.verified == bool(approved), found.reason
    assert "It newly imports os in m.py." in found.notes


def test_a_past_result_is_not_proved_by_other_tests(work, past, command):
    write_files(work, {"tests/test_m.py": FILES["tests/test_m.py"] + "\n\ndef test_more():\n    pass\n"})
    code, out, err = command(f"run:{past}", "--json")
    assert code == 3
    assert "tests/test_m.py" in err
    value = json.loads(out)
    assert value["verified"] is False
    assert "tests/test_m.py" in value["reason"]


def test_the_command_takes_a_number_for_a_run(work, past, command):
    code, out, _err = command(str(past))
    assert code == 0, out
    assert f"run {past}" in out


def test_what_fix_found_is_proved_again(work, command, tmp_path):
    answers = tmp_path / "answers.jsonl"
    answers.write_text(json.dumps("```python\ndef double(x):\n    return x * 2\n```") + "\n")
    assert main(["fix", DOUBLE, "--model", f"scripted:{answers}", "--preset", "plain", "--json"]) == 0
    number = History.open().runs(work, limit=1)[0].id
    code, out, err = command(f"run:{number}", "--json")
    assert code == 0, err
    value = json.loads(out.splitlines()[-1])
    assert (value["verified"], value["revision"], value["changes"]) == (True, f"run {number}", [])
    assert value["fixed"] == [DOUBLE]
