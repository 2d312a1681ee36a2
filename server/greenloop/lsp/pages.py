"""Read-only pages in the state folder: written, and opened by the editor or named to the user.

One file for each target and kind, so that the folder stays small. Nothing here ever lies in the workspace.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import logging
import os
import re
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from greenloop.core.uris import uri_from_path
from greenloop.lsp import client, tried
from greenloop.lsp.edits import plan
from greenloop.lsp.presenters import page, status
from greenloop.settings import state_folder

if TYPE_CHECKING:
    from greenloop.findings import Row
    from greenloop.lsp.runs import Run
    from greenloop.lsp.server import Server

log = logging.getLogger(__name__)

FILES = 200  # pages that are kept, the newest


async def attempts(server: Server, runs: Sequence[Run]) -> None:
    """The whole course of one run, or of several on one page."""
    if len(runs) == 1:
        file = _file(runs[0])
    else:
        file = _named(Path(runs[0].uri).stem, *sorted({run.target.selector for run in runs}), str(runs[0].root))
    await _open(server, file, await report(server, runs), "The attempts are in")


async def report(server: Server, runs: Sequence[Run]) -> str:
    """The course of these runs in full; a notebook's lines are rows of its cells.

    To compare long files for it takes a second.
    """
    text = await asyncio.to_thread(page.attempts, runs)
    for run in runs:
        text = status.named(server, run, text)
    return text


async def compared(server: Server, run: Run, number: int) -> None:
    """What putting an attempt in would change in the text as it is now."""
    attempt = next(attempt for attempt in run.attempts if attempt.number == number)
    text = await asyncio.to_thread(page.compared, run, attempt, await tried.texts(server, run, attempt))
    await _open(server, _file(run, "compared"), status.named(server, run, text), "The comparison is in")


async def findings(server: Server, root: Path | None, rows: list[Row]) -> None:
    """What the doctor found about a folder, or about the machine where none is open."""
    await _open(server, _named("doctor", str(root or "")), page.findings(rows), "The findings are in")


async def result(server: Server, run: Run) -> tuple[bool, Path | None, str]:
    """Shows what a result would change: whether the editor opened it, the page (None: no room for it), and the diff.

    No diff: there is nothing that could be applied now.
    """
    steps = plan(server, run)
    if not isinstance(steps, list) or not steps:
        return False, None, ""
    diff = page.diff({step.path: step.current for step in steps}, {step.path: step.wanted for step in steps})
    diff = status.named(server, run, diff)
    path = await _written(_file(run, "result"), status.named(server, run, page.result(run, diff)))
    return path is not None and await client.show(server, uri_from_path(path)), path, diff


async def _open(server: Server, file: str, text: str, told: str) -> None:
    path = await _written(file, text)
    if path is None:
        client.tell(
            server, f"A page cannot be written into {state_folder()}; free some space there, or let it be written."
        )
    elif not await client.show(server, uri_from_path(path)):
        client.tell(server, f"{told} {path}")


def _file(run: Run, kind: str = "") -> str:
    return _named(run.name, run.target.selector, str(run.root), kind=kind)


def _named(name: str, *key: str, kind: str = "") -> str:
    digest = hashlib.sha256("\0".join(key).encode()).hexdigest()[:12]
    return "-".join(filter(None, [re.sub(r"[^A-Za-z0-9_]+", "-", name)[:40], digest, kind])) + ".md"


async def _written(name: str, text: str) -> Path | None:
    try:
        return await asyncio.to_thread(_write, name, text)
    except OSError as error:
        log.warning("A page could not be written: %s", error.strerror)
        return None


def _write(name: str, text: str) -> Path:
    folder = state_folder() / "reports"
    folder.mkdir(exist_ok=True, mode=0o700)
    path, fresh = folder / name, folder / f".{uuid.uuid4()}"
    try:
        fresh.write_text(text, encoding="utf-8", errors="replace")
        fresh.chmod(0o400)
        if os.name == "nt" and path.exists():
            # There what is read-only cannot be replaced.
            path.chmod(0o600)
        fresh.replace(path)
    except OSError:
        # A full disk shall not keep half a page besides.
        fresh.unlink(missing_ok=True)
        raise
    with contextlib.suppress(OSError):
        pages = sorted(folder.glob("*.md"), key=lambda page: page.stat().st_mtime, reverse=True)
        for old in pages[FILES:]:
            old.unlink()
    return path
