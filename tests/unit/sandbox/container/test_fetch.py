"""What pip says becomes one sentence."""

from __future__ import annotations

import pytest

from greenloop.core.errors import CannotVerifyError
from greenloop_sandbox.container import fetch
from greenloop_sandbox.container.bounded_process import ProgramError


@pytest.mark.parametrize(
    ("output", "kind", "said"),
    [
        ("ERROR: No matching distribution found for thing==1.0", CannotVerifyError, "no wheel of thing that fits"),
        ("WARNING: x\nERROR: Cannot install a and b\nERROR: ResolutionImpossible: for help", ProgramError, "Cannot install a and b"),
        ("NewConnectionError: [Errno 111] Connection refused')': /simple/\nERROR: No matching distribution found for x", CannotVerifyError, "cannot be reached"),
        ("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM x.\n    a==1 from y:\n  Expected sha256 0", CannotVerifyError, "a==1: the file on your package index does not match"),
        ("", ProgramError, "no output"),
    ],
)  # fmt: skip
def test_what_pip_says_becomes_one_sentence(output, kind, said):
    failed = ProgramError("x")
    failed.output = output
    problem = fetch._explain(failed)
    assert type(problem) is kind
    with pytest.raises(kind, match=said):
        raise problem
