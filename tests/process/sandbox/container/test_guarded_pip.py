"""pip under the guard."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from greenloop.core.errors import CannotVerifyError
from greenloop_sandbox.container import fetch, guarded_pip
from image_facts import FACTS


def guarded(tmp_path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    told = json.dumps({"markers": {}, "temporary": str(tmp_path)})
    command = [sys.executable, "-P", guarded_pip.__file__, told, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_source_is_no_wheel_and_nothing_of_it_runs(tmp_path, monkeypatch):
    index, witness = tmp_path / "index", tmp_path / "witness"
    index.mkdir()
    with tarfile.open(index / "glevil-1.0.tar.gz", "w:gz") as tar:
        for name, text in {"setup.py": f"open({str(witness)!r}, 'w').close()\n", "PKG-INFO": "Name: glevil\n"}.items():
            member = tarfile.TarInfo(f"glevil-1.0/{name}")
            member.size = len(text)
            tar.addfile(member, io.BytesIO(text.encode()))

    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(index))
    with pytest.raises(CannotVerifyError, match=r"has no wheel of glevil that fits"):
        fetch.Fetcher(python=FACTS).fetch(tmp_path / "work", ["glevil"])
    assert not witness.exists()


def test_pip_itself_answers_under_the_guard(tmp_path):
    assert guarded(tmp_path, "--version").stdout.startswith("pip ")
