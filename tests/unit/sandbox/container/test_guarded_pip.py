"""Which commands pip may start."""

from __future__ import annotations

import pytest

from greenloop_sandbox.container import guarded_pip


def test_only_a_keyring_may_be_asked():
    with pytest.raises(PermissionError, match="pip may not start"):
        guarded_pip._deny_programs("subprocess.Popen", ("/usr/bin/git", [], None, None))
    with pytest.raises(PermissionError):
        guarded_pip._deny_programs("os.system", (b"keyring",))
    guarded_pip._deny_programs("subprocess.Popen", ("/usr/bin/keyring", [], None, None))
    guarded_pip._deny_programs("open", ("/usr/bin/git",))
