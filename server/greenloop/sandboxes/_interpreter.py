"""The words that show an interpreter: its base installation, its environment, and the links that lead to them."""

# Links are read by hand.
# ruff: noqa: PTH114, PTH115, PTH118, PTH120

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from greenloop.core.errors import CannotVerify
from greenloop.core.nouns import Environment

SYSTEM = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")  # beside /usr


def words(environment: Environment, root: Path) -> list[str]:
    """Binds of the base installation, the environment and what it names, and the symbolic links that lead to them."""
    wanted = [environment.base, environment.prefix, *environment.extra]
    real = os.path.realpath(environment.executable)
    if not any(_below(real, os.path.realpath(path)) for path in (*wanted, Path("/usr"))):
        wanted.append(Path(real))
    shown = ["/usr", str(root), *(f"/{name}" for name in SYSTEM)]
    result: list[str] = []
    for path in wanted:
        target = os.path.realpath(path)
        if _below(target, "/nix/store"):
            target = "/nix/store"
        if any(_below(target, other) for other in shown):
            continue
        _refuse_home(Path(target))
        shown.append(target)
        result += ["--ro-bind", target, target]
    made: set[str] = set()
    for way in (*wanted, environment.executable):
        for link, target in _links(way):
            if link not in made and not any(_below(link, other) for other in shown):
                made.add(link)
                result += ["--symlink", target, link]
    return result


def _links(path: Path) -> Iterator[tuple[str, str]]:
    """(link, what it says) for each symbolic link on the way from the root to what the path finally names."""
    todo = list(path.parts[1:])
    here = "/"
    for _ in range(200):
        if not todo:
            return
        part = todo.pop(0)
        if part == "..":
            here = os.path.dirname(here)
            continue
        step = os.path.join(here, part)
        if os.path.islink(step):
            target = os.readlink(step)
            yield step, target
            pieces = [piece for piece in target.split("/") if piece not in ("", ".")]
            here = "/" if target.startswith("/") else here
            todo = pieces + todo
        else:
            here = step


def _refuse_home(path: Path) -> None:
    home = Path(os.path.realpath(Path.home()))
    if path == Path("/") or path == home or path in home.parents:
        raise CannotVerify(
            f"The interpreter's installation is {path}, which cannot be shown without all that is in it.",
            remedy="Make a virtual environment from another Python and name it in the setting 'interpreter'.",
        )


def _below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")
