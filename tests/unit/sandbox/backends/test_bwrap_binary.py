"""What a failed self-test is called."""

from __future__ import annotations

import pytest

from greenloop.core.errors import CannotVerifyError
from greenloop_sandbox.backends import _bwrap_binary


def test_what_is_not_installed_has_a_remedy():
    with pytest.raises(CannotVerifyError) as caught:
        _bwrap_binary.choose(())
    assert "apt install bubblewrap" in caught.value.remedy


@pytest.mark.parametrize(
    ("printed", "cause", "remedy"),
    [
        ("bwrap: Unknown option --disable-userns", "too old", "0.8"),
        ("bwrap: setting up uid map: Permission denied", "user namespaces", ""),
        ("bwrap: No permissions to create a new namespace", "namespaces", ""),
        ("bwrap: Can't find source path /usr", "Can't find source path", "Docker"),
    ],
)
def test_causes_have_remedies(printed, cause, remedy):
    told = _bwrap_binary.explain(printed)
    assert cause in told[0]
    assert remedy in told[1]
    assert told[1]
