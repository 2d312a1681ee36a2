"""pip as a program that starts no other.

Run as a script with the markers of the target and a folder to work in as JSON, then pip's arguments.

A package that would have to be built is so only downloaded; nothing of it runs on this machine.
pip reads the user's own configuration, and nothing else does.
"""

from __future__ import annotations

import importlib
import json
import os
import runpy
import sys
from typing import Any

_STARTS = frozenset(
    {"subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.startfile", "pty.spawn"}
)


def _refuse(event: str, arguments: tuple[object, ...]) -> None:
    """The user's own keyring is the one program that pip may ask."""
    if event not in _STARTS:
        return
    program = str(arguments[0] if arguments and arguments[0] else "")
    if event != "subprocess.Popen" or os.path.basename(program).removesuffix(".exe") != "keyring":  # noqa: PTH119
        raise PermissionError(f"pip may not start {program or 'programs'}")


def main() -> None:
    """Runs pip. Markers are those of the target, where this pip lets them be set: it takes its own Python's else."""
    told = json.loads(sys.argv[1])
    os.environ["TMPDIR"] = told["temporary"]
    os.chdir(told["temporary"])
    try:
        # Untyped on purpose: what pip carries has other types in each of its versions.
        vendored: Any = importlib.import_module("pip._vendor.packaging.markers")
        vendored.default_environment = lambda: dict(told["markers"])
    except (ImportError, AttributeError):
        pass
    sys.addaudithook(_refuse)
    sys.argv[:] = ["pip", *sys.argv[2:]]
    runpy.run_module("pip", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
