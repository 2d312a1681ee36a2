"""Runs pip so that it cannot start other programs.

A script: its arguments are JSON with the target's markers and a working folder, then pip's own arguments.
A package that would have to be built is only downloaded; nothing of it runs on this machine.
Only the user's own pip configuration applies.
"""

from __future__ import annotations

import importlib
import json
import os
import runpy
import sys
from typing import Any

_START_EVENTS = frozenset(
    {"subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.startfile", "pty.spawn"}
)


def _deny_programs(event: str, arguments: tuple[object, ...]) -> None:
    """Audit hook: denies starting programs, except the user's own keyring."""
    if event not in _START_EVENTS:
        return
    program = str(arguments[0] if arguments and arguments[0] else "")
    if event != "subprocess.Popen" or os.path.basename(program).removesuffix(".exe") != "keyring":  # noqa: PTH119
        raise PermissionError(f"pip may not start {program or 'programs'}")


def main() -> None:
    """Runs pip with the target's markers; a pip where they cannot be set uses those of its own Python."""
    settings = json.loads(sys.argv[1])
    os.environ["TMPDIR"] = settings["temporary"]
    os.chdir(settings["temporary"])
    try:
        # Untyped on purpose: pip's vendored types differ between versions.
        vendored: Any = importlib.import_module("pip._vendor.packaging.markers")
        vendored.default_environment = lambda: dict(settings["markers"])
    except (ImportError, AttributeError):
        pass
    sys.addaudithook(_deny_programs)
    sys.argv[:] = ["pip", *sys.argv[2:]]
    runpy.run_module("pip", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
