"""Builds the bubblewrap arguments that show an interpreter: base, environment, and links to them."""

# Links are resolved step by step.
# ruff: noqa: PTH114, PTH115, PTH118, PTH120

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from greenloop_sandbox.errors import CannotVerifyError
from greenloop_sandbox.records import Environment

SYSTEM = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")  # besides /usr


def mount_arguments(environment: Environment, root: Path) -> list[str]:
    """Binds the base installation, the environment and its extra paths, and the symbolic links that lead to them."""
    paths = [environment.base, environment.prefix, *environment.extra]
    real = os.path.realpath(environment.executable)
    if not any(_below(real, os.path.realpath(path)) for path in (*paths, Path("/usr"))):
        paths.append(Path(real))
    shown = ["/usr", str(root), *(f"/{name}" for name in SYSTEM)]
    result: list[str] = []
    for path in paths:
        target = os.path.realpath(path)
        if _below(target, "/nix/store"):
            target = "/nix/store"
        if any(_below(target, folder) for folder in shown):
            continue
        place, home = Path(target), Path(os.path.realpath(Path.home()))
        if place == Path("/") or place == home or place in home.parents:
            raise CannotVerifyError(
                f"The interpreter is installed in {place}, and tests cannot see it without the rest of that folder.",
                remedy="Create a virtual environment from another Python and set 'interpreter' to it.",
            )
        shown.append(target)
        result += ["--ro-bind", target, target]
    linked: set[str] = set()
    for path in (*paths, environment.executable):
        for link, target in _links(path):
            if link not in linked and not any(_below(link, folder) for folder in shown):
                linked.add(link)
                result += ["--symlink", target, link]
    return result


def _links(path: Path) -> Iterator[tuple[str, str]]:
    """Yields (link, target) for each symbolic link that resolving the path passes through."""
    pending = list(path.parts[1:])
    current = "/"
    for _ in range(200):
        if not pending:
            return
        part = pending.pop(0)
        if part == "..":
            current = os.path.dirname(current)
            continue
        step = os.path.join(current, part)
        if os.path.islink(step):
            target = os.readlink(step)
            yield step, target
            pieces = [piece for piece in target.split("/") if piece not in ("", ".")]
            current = "/" if target.startswith("/") else current
            pending = pieces + pending
        else:
            current = step


def _below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")
