"""The change of an exported run in this workspace: merged, or refused by name; and how packages differ."""

from __future__ import annotations

import pytest

from greenloop.core.errors import CannotVerifyError, UsageError
from greenloop.core.records.outcome import Verified
from greenloop.plugins.replay.run_file import Claim, FileEdit, Lock, RunFile, RunSettings
from greenloop.plugins.replay.verify_file import describe_packages, plan_change

BEFORE = "A = 1\n\n\nB = 1\n\n\nC = 1\n"
AFTER = BEFORE.replace("A = 1", "A = 2")
THEIRS = BEFORE.replace("C = 1", "C = 3")


def run_of(*edits: FileEdit) -> RunFile:
    return RunFile(
        target="test_m.py::test_a",
        cases=("test_m.py::test_a",),
        change=edits or (FileEdit(path="m.py", before=BEFORE, after=AFTER),),
        tests_hash="",
        tests={},
        code={},
        claim=Claim(verified=Verified.VERIFIED),
        environment=Lock(python="3.11"),
        settings=RunSettings(),
    )


@pytest.fixture
def plan(tmp_path):
    def plan(current: str | None, *edits: FileEdit, path: str = "m.py"):
        if current is not None:
            (tmp_path / path).write_bytes(current.encode())
        return plan_change(run_of(*edits), tmp_path, "run.json")

    return plan


def test_the_code_that_the_run_saw_is_changed(plan):
    change = plan(BEFORE)
    assert (change.before, change.after, change.merged) == ({"m.py": BEFORE}, {"m.py": AFTER}, ())


def test_other_changes_stay(plan):
    change = plan(THEIRS)
    assert change.before == {"m.py": THEIRS}
    assert change.after == {"m.py": THEIRS.replace("A = 1", "A = 2")}
    assert change.merged == ("m.py",)


def test_line_ends_stay_those_of_this_checkout(plan):
    change = plan(THEIRS.replace("\n", "\r\n"))
    assert change.after == {"m.py": THEIRS.replace("A = 1", "A = 2").replace("\n", "\r\n")}
    assert plan(BEFORE.replace("\n", "\r\n")).merged == ()


@pytest.mark.parametrize("current", [AFTER, THEIRS.replace("A = 1", "A = 2")])
def test_a_change_that_is_here_already_is_taken_back_for_the_run_before(plan, current):
    change = plan(current)
    assert change.current == change.after == {"m.py": current}
    assert change.before == {"m.py": current.replace("A = 2", "A = 1")}


def test_a_new_file(plan):
    new = FileEdit(path="n.py", before=None, after="N = 1\n")
    assert plan(None, new).before == {"n.py": None}
    assert plan("N = 1\n", new, path="n.py").before == {"n.py": None}
    with pytest.raises(CannotVerifyError, match=r"n\.py differs here"):
        plan("N = 2\n", new, path="n.py")


@pytest.mark.parametrize(
    ("current", "told"),
    [
        (None, "m.py, which run.json changes, does not exist here"),
        (BEFORE.replace("A = 1", "A = 3"), "m.py differs here"),
    ],
)
def test_code_that_differs_is_named(plan, current, told):
    with pytest.raises(CannotVerifyError, match=told) as error:
        plan(current)
    assert "Check out the commit" in error.value.remedy


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("test_m.py", "belongs to the tests"),
        ("tests/helper.py", "belongs to the tests"),
        ("conftest.py", "is configuration"),
        ("src/conftest.py", "is configuration"),
        ("sitecustomize.py", "is configuration"),
        ("setup.py", "is configuration"),
        ("check_m.py", "belongs to the tests"),  # by the project's own configuration
        ("env/lib/python3.11/site-packages/pytest/__init__.py", "belongs to an environment or a build"),
        ("mine/lib/m.py", "belongs to an environment or a build"),
        ("node_modules/m.py", "belongs to an environment or a build"),
        ("secrets.py", "is hidden"),
        ("link/m.py", "is behind a symbolic link"),
        ("linked.py", "is behind a symbolic link"),
    ],
)
def test_what_no_change_may_touch(tmp_path, path, told):
    root, outside = tmp_path / "root", tmp_path / "outside"
    (root / "mine").mkdir(parents=True)
    outside.mkdir()
    (root / "mine" / "pyvenv.cfg").touch()
    (root / "pytest.ini").write_text("[pytest]\npython_files = test_*.py check_*.py\n")
    (root / "link").symlink_to(outside, target_is_directory=True)
    (outside / "m.py").write_text(BEFORE)
    (root / "linked.py").symlink_to(outside / "m.py")
    run = run_of(FileEdit(path=path, before=BEFORE, after=AFTER))
    with pytest.raises(UsageError, match=told) as error:
        plan_change(run, root, "run.json", ("secrets.*",))
    assert path in str(error.value)
    assert "Nothing was run" in error.value.remedy


def test_packages_that_differ_are_named_in_one_sentence():
    lock = ("attrs==22.1.0", "pytest==9.0.0", "rich==14.0")
    assert describe_packages(lock, lock) == ""
    assert describe_packages(lock, ("attrs==23.1.0", "pytest==9.0.0", "yarl==1.0")) == (
        "The packages differ from the lock: attrs is 23.1.0 instead of 22.1.0, rich 14.0 is missing, "
        "yarl 1.0 is not in the lock."
    )
    many = tuple(f"a{number}==1" for number in range(10))
    assert describe_packages(many, ()).endswith("a7 1 is missing and 2 more.")
