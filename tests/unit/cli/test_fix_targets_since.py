"""`greenloop fix --since REV`: what is fixed, what is said, and bad words."""

from __future__ import annotations

import json

import pytest

from fake_engine import CASE, fake, project
from greenloop.api import testing
from greenloop.cli.commands import fix as command
from greenloop.cli.main import main
from greenloop.core.errors import CannotVerifyError, UsageError
from greenloop.engine.testing.run_tests import Regressions

__all__ = ["fake", "project"]


@pytest.fixture
def since(fake, monkeypatch):
    """Sets what is red since a revision; what was asked for is in the list."""
    asked = []

    def set_(result):
        async def find_regressions(_root, revision, *, settings, report_status):
            asked.append(revision)
            if isinstance(result, Exception):
                raise result
            return result

        monkeypatch.setattr(testing, "find_regressions", find_regressions)
        return asked

    return set_


def test_all_that_became_red_is_fixed_and_what_failed_before_is_left_out(since, fake, capsys):
    asked = since(Regressions(commit="abc", broken=(CASE,), new=("test_m.py::test_new",), old=("test_m.py::test_old",)))
    assert main(["fix", "--since", "HEAD~2"]) == 0
    assert asked == ["HEAD~2"]
    assert [request.target for request in fake.requests] == [CASE, "test_m.py::test_new"]
    said = "2 red since HEAD~2: 1 that passed there, 1 that it does not have; left out: 1 that failed there too"
    assert said in capsys.readouterr().err


def test_it_is_bounded(since, fake, capsys):
    since(Regressions(commit="abc", broken=tuple(f"test_m.py::test_{number}" for number in range(12))))
    main(["fix", "--since", "HEAD~2"])
    assert len(fake.requests) == command.MOST == 10
    assert "only the first 10 are fixed (--most)" in capsys.readouterr().err
    main(["fix", "--since", "HEAD~2", "--most", "1"])
    assert len(fake.requests) == 11


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        (Regressions(commit="abc"), "No test has started to fail since v1."),
        (
            Regressions(commit="abc", old=(CASE,)),
            "No test has started to fail since v1; left out: 1 that failed there too.",
        ),
    ],
)
def test_nothing_to_fix_is_0(since, fake, capsys, found, sentence):
    since(found)
    assert main(["fix", "--since", "v1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["message"] == sentence
    assert fake.requests == []


@pytest.mark.parametrize(("error", "code"), [(UsageError("There is no commit 'x'."), 2), (CannotVerifyError("No."), 3)])
def test_a_bad_revision_is_one_sentence(since, capsys, error, code):
    since(error)
    assert main(["fix", "--since", "x"]) == code
    assert str(error) in capsys.readouterr().err


@pytest.mark.parametrize("words", [[CASE, "--since", "HEAD"], ["--since", "HEAD", "--most", "0"], ["--since"]])
def test_bad_words_run_nothing(since, words):
    asked = since(Regressions(commit="abc"))
    assert main(["fix", *words]) == 2
    assert asked == []
