"""Test files that cannot be imported: what is said where nothing names their tests."""

import pytest

from greenloop.core.errors import CannotVerifyError
from greenloop.engine.testing.failing_tests import refuse_unfinished, refuse_unreadable
from greenloop.engine.testing.run_tests import SuiteReport
from greenloop_sandbox import CaseResult, Failure, Frame
from greenloop_sandbox.report.cases import CollectError

NAMING = "Correct that, or name one of the tests yourself: `greenloop fix test_m.py::NAME`."
FIRST = "Fix that first: pytest has to be able to collect the tests."


def error(file: str, *, name: str | None = None) -> CollectError:
    frames = (Frame(path="test_m.py", line=1, function="f"), Frame(path="m.py", line=7, function="f"))
    return CollectError(id=file, failure=Failure(type="E", message="why\nmore", frames=frames), missing_name=name)


@pytest.mark.parametrize(
    ("file", "name", "remedy"),
    [("test_m.py", "encode", NAMING), ("test_m.py", None, FIRST), ("sub/conftest.py", "encode", FIRST)],
)
def test_only_a_missing_name_of_a_test_file_can_be_gone_around(file, name, remedy):
    with pytest.raises(CannotVerifyError) as caught:
        refuse_unreadable([error(file, name=name)])
    assert str(caught.value) == f"pytest cannot import {file}, so nothing names its tests (E: why, m.py:7)."
    assert caught.value.remedy == remedy


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
