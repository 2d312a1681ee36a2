"""Paths in the way of mounts."""

from __future__ import annotations

from pathlib import Path

import pytest

from greenloop_sandbox import SandboxSpec
from greenloop_sandbox.backends import _mounts
from mount_helpers import make_environment


@pytest.fixture
def place(tmp_path):
    root = tmp_path / "w"
    (root / "pkg").mkdir(parents=True)
    (root / "pkg" / "m.py").write_text("")
    return SandboxSpec(root=root, environment=make_environment(Path("/usr"), Path("/usr")), variables={"TOKEN": "t"})


@pytest.mark.parametrize("name", ["../x", "/x", "link/x.py", "pkg", "pkg/m.py/x", "pkg/link.py"])
def test_paths_in_the_way(place, name):
    (place.root / "link").symlink_to("/etc")
    (place.root / "pkg" / "link.py").symlink_to("/etc/passwd")
    with pytest.raises(ValueError, match=r"not a "):
        _mounts.check_paths(place.root, [name])
