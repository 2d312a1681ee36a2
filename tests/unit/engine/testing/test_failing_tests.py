"""Test files that cannot be imported: what is said where nothing names their tests."""

import pytest

from greenloop.core.errors import CannotVerifyError
from greenloop.engine.testing.failing_tests import refuse_unfinished, refuse_unreadable
from greenloop.engine.testing.run_tests import SuiteReport, files_that_lack_code
from greenloop_sandbox import CaseResult, Failure, Frame
from greenloop_sandbox.report.cases import CollectError


def error(file: str, *, name: str | None = None) -> CollectError:
    frames = (Frame(path="test_m.py", line=1, function="f"), Frame(path="m.py", line=7, function="f"))
    return CollectError(id=file, failure=Failure(type="E", message="why\nmore", frames=frames), missing_name=name)


@pytest.mark.parametrize(
    ("file", "name", "files"),
    [
        ("test_m.py", "m", ["test_m.py"]),
        ("test_m.py::TestA", "package.m", ["test_m.py"]),
        ("test_m.py", None, []),
        ("test_m.py", "numpy", []),
        ("sub/conftest.py", "m", []),
    ],
)
def test_a_test_file_that_lacks_code_of_the_workspace_is_a_failing_one(file, name, files, tmp_path):
    assert files_that_lack_code([error(file, name=name), error(file, name=name)], tmp_path) == files


def test_a_file_that_cannot_be_imported_for_another_reason_is_named():
    with pytest.raises(CannotVerifyError) as caught:
        refuse_unreadable([error("test_m.py")])
    assert str(caught.value) == "pytest cannot import test_m.py, so nothing names its tests (E: why, m.py:7)."
    assert caught.value.remedy == "Fix that first: pytest has to be able to collect the tests."


def test_further_files_are_counted_once_each():
    refuse_unreadable([])
    with pytest.raises(CannotVerifyError, match=r"import test_m\.py and 1 more,"):
        refuse_unreadable([error("test_m.py"), error("test_m.py::TestA"), error("test_n.py")])


@pytest.mark.parametrize(
    ("ended", "sentence", "remedy"),
    [
        (True, "1 test passes, and 2 did not run: pytest ended before m::b.", "Name it: `greenloop fix m::b`."),
        (
            False,
            "1 test passes, and 2 did not run within 60 s.",
            "Name a test or a folder, or give the suite more time",
        ),
    ],
)
def test_tests_that_did_not_run_are_not_called_passing(ended, sentence, remedy):
    results = (CaseResult(id="m::a", outcome="passed"),)
    refuse_unfinished(SuiteReport(results=results), 60.0)
    with pytest.raises(CannotVerifyError) as caught:
        refuse_unfinished(SuiteReport(results=results, left_out=("m::b", "m::c"), ended=ended), 60.0)
    assert str(caught.value) == sentence
    assert caught.value.remedy.startswith(remedy)
