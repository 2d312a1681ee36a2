"""The first program of a container, as an ordinary process."""

from __future__ import annotations

import subprocess
import sys

from greenloop_sandbox import payload


def test_boot_says_hello_and_ends_with_its_stdin():
    source = (payload.folder() / "image" / "boot.py").read_text(encoding="utf-8")
    with subprocess.Popen(
        [sys.executable, "-I", "-c", source], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        hello = payload.protocol().read_message(process.stdout)
        process.stdin.close()
        assert process.wait(10) == 0
    assert hello == {"kind": "hello", "python": list(sys.version_info[:3]), "pytest": True, "packages": False}
