"""Each difference around the tests is one sentence."""

from __future__ import annotations

from dataclasses import replace

import pytest

from greenloop.core.errors import CannotVerifyError
from greenloop.engine.history.provenance import Basis
from greenloop.plugins.replay.changes import describe_changes, refuse_changed_tests

THEN = Basis(
    trusted="1",
    files={"test_m.py": "1"},
    code={"m.py": "1"},
    python="/usr/bin/python",
    version="3.11",
    packages=("a_b-1.0", "c-2.0"),
)


def test_the_same_basis_differs_in_nothing():
    assert describe_changes(THEN, replace(THEN)) == ()
    refuse_changed_tests(THEN, replace(THEN), "The tests have changed", "Run them.")


def test_differences_are_one_sentence_each():
    now = replace(
        THEN,
        code={"m.py": "2", "n.py": "1"},
        python="/other/python",
        packages=("a_b-1.1", "c-2.0"),
        network=True,
        variables=("HOME",),
        seeds=(1,),
    )
    sentences = describe_changes(THEN, now, except_files={"m.py"})
    assert len(sentences) == 6
    text = " ".join(sentences)
    for part in ("n.py", "/other/python", "-a_b-1.0", "+a_b-1.1", "network", "HOME", "(1,)"):
        assert part in text
    assert "m.py" not in sentences[0].replace("n.py", "")


def test_changed_tests_are_refused_by_name():
    now = replace(THEN, trusted="2", files={"test_m.py": "2"})
    with pytest.raises(CannotVerifyError, match=r"^The tests have changed: test_m\.py\.$"):
        refuse_changed_tests(THEN, now, "The tests have changed", "Run them.")
