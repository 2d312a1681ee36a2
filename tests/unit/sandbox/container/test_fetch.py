"""What pip says becomes one sentence."""

from __future__ import annotations

import pytest

from greenloop.core.errors import CannotVerifyError
from greenloop_sandbox.container import fetch


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ("ERROR: No matching distribution found for thing==1.0", "no wheel of thing that fits"),
        ("WARNING: x\nERROR: Cannot install a and b\nERROR: ResolutionImpossible: for help", "Cannot install a and b"),
        ("NewConnectionError: [Errno 111] Connection refused')': /simple/\nERROR: No matching distribution found for x", "cannot be reached"),
        ("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM x.\n    a==1 from y:\n  Expected sha256 0", "a==1: the file on your package index does not match"),
        ("", "no output"),
    ],
)  # fmt: skip
def test_what_pip_says_becomes_one_sentence(output, said):
    with pytest.raises(CannotVerifyError, match=said):
        raise fetch.explain(output)


def test_a_line_of_the_requirement_file_is_named_by_its_text():
    said = "ERROR: Cannot satisfy -r /tmp/x/requirements.txt (line 2): no"
    assert "Cannot satisfy b==1: no" in str(fetch.explain(said, ["a", "b==1 --hash=sha256:00"]))
