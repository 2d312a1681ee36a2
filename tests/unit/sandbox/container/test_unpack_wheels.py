"""Wheels stay in their folders."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from greenloop.core.errors import CannotVerifyError
from greenloop_sandbox.container import unpack_wheels
from image_facts import FACTS
from wheels import make_wheel


def unpacked(tmp_path: Path, file: Path, target: str = "") -> dict[str, tuple[int, str]]:
    with unpack_wheels.LayerArchive(tmp_path / "layer.tar") as layer:
        layer.add_wheels([file], FACTS, target)
    with tarfile.open(tmp_path / "layer.tar") as tar:
        return {
            member.name: (member.mode, tar.extractfile(member).read().decode()) for member in tar if member.isfile()
        }


FILES = {
    "thing/__init__.py": "X = 1\n",
    "thing-1.0.data/scripts/tool": "#!python -E\nprint(1)\n",
    "thing-1.0.data/data/share/x": "data",
    "thing-1.0.data/headers/x.h": "h",
    "thing-1.0.dist-info/entry_points.txt": "[console_scripts]\nrun = thing.cli:main.go\n../evil = thing:x\n[other]\ny = z\n",
}


def test_a_wheel_is_laid_as_an_installer_would(tmp_path):
    found = unpacked(tmp_path, make_wheel(tmp_path, FILES))
    assert found["usr/lib/site/thing/__init__.py"] == (0o644, "X = 1\n")
    assert found["usr/bin/tool"] == (0o755, "#!/usr/bin/python3\nprint(1)\n")
    assert found["usr/share/x"] == (0o644, "data")
    assert found["usr/include/thing/x.h"] == (0o644, "h")
    mode, script = found["usr/bin/run"]
    assert mode == 0o755
    assert "from thing.cli import main\n" in script
    assert "sys.exit(main.go())" in script
    assert not any("evil" in path for path in found)


def test_a_target_takes_everything(tmp_path):
    found = unpacked(tmp_path, make_wheel(tmp_path, {**FILES, "thing/run/__init__.py": ""}), "/build/site")
    assert all(path.startswith("build/site/") for path in found)
    assert "build/site/thing/__init__.py" in found


@pytest.mark.parametrize(
    "inner", ["../evil.py", "/etc/evil", "a/../../evil", "thing-1.0.data/scripts/../../evil", "a\\b"]
)
def test_a_wheel_that_would_leave_its_folder_is_refused(tmp_path, inner):
    with pytest.raises(CannotVerifyError, match=r"thing-1\.0-py3-none-any\.whl cannot be unpacked"):
        unpacked(tmp_path, make_wheel(tmp_path, {inner: "x"}))


def test_what_is_no_wheel_and_what_is_too_large_are_refused(tmp_path, monkeypatch):
    (tmp_path / "x.whl").write_bytes(b"no zip")
    with pytest.raises(CannotVerifyError, match="x.whl cannot be unpacked"):
        unpacked(tmp_path, tmp_path / "x.whl")
    monkeypatch.setattr(unpack_wheels, "MAX_BYTES", 3)
    with pytest.raises(CannotVerifyError, match="more than"):
        unpacked(tmp_path, make_wheel(tmp_path, FILES))
