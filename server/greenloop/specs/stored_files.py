"""The files of stored tests in the state folder, readable only by the user; must not know what is in them."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import tempfile
from pathlib import Path

from greenloop.project import settings
from greenloop.specs.edited_tests import LONGEST

MAX_FUNCTIONS = 300  # functions of one workspace whose tests are kept; older ones are dropped


def stored_path(root: Path, path: str, qualname: str) -> Path:
    """Returns where the tests of a function are stored, even if there are none yet."""
    full_name = f"{path.removesuffix('.py').replace('/', '.')}__{qualname}"
    safe_name = re.sub(r"[^0-9a-zA-Z_.-]", "_", full_name)
    if safe_name != full_name or len(safe_name) > 120:
        safe_name = f"{safe_name[:120]}-{sha(full_name)[:8]}"
    return settings.state_folder() / "tests" / sha(str(root))[:16] / f"{safe_name}.py"


def read_text(file: Path) -> str | None:
    """Reads a file; if it is far too long, only enough to notice."""
    try:
        with file.open("rb") as stream:
            return stream.read(4 * LONGEST).decode("utf-8", "replace")
    except FileNotFoundError:
        return None


def record_path(file: Path) -> Path:
    return file.with_suffix(".json")


def set_aside(file: Path) -> Path:
    old_path = file.with_suffix(".old.py")
    with contextlib.suppress(OSError):
        file.replace(old_path)
        record_path(file).unlink(missing_ok=True)
    return old_path


def write_atomically(path: Path, text: str) -> None:
    """Writes a file atomically, readable by its owner only."""
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:40]}.")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace", newline="\n") as file:
            file.write(text)
        Path(temporary).replace(path)
    except OSError:
        Path(temporary).unlink(missing_ok=True)
        raise


def prune(folder: Path) -> None:
    files = sorted(folder.glob("*.py"), key=lambda path: path.stat().st_mtime, reverse=True)
    for old in files[MAX_FUNCTIONS:]:
        old.unlink(missing_ok=True)
        record_path(old).unlink(missing_ok=True)


def sha(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
