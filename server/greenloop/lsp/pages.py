"""Writes read-only pages into the state folder; the editor opens them, or the user gets their path.

One file for each target and kind, so that the folder stays small. No page is ever written into the workspace.
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

from greenloop.core.text.uris import uri_from_path
from greenloop.lsp.connection import client_requests
from greenloop.lsp.presenters import notifications, page_text
from greenloop.lsp.runs import attempt_texts
from greenloop.lsp.runs.apply_edit import plan
from greenloop.project.settings import state_folder

if TYPE_CHECKING:
    from greenloop.engine.doctor.report import Row
    from greenloop.lsp.runs.runs import Run
    from greenloop.lsp.server import Server

log = logging.getLogger(__name__)

FILES = 200  # newest pages that are kept


async def attempts(server: Server, runs: Sequence[Run]) -> None:
    """Opens a page with all attempts of one run, or of several runs."""
    if len(runs) == 1:
        file = _file(runs[0])
    else:
        file = _named(Path(runs[0].uri).stem, *sorted({run.target.selector for run in runs}), str(runs[0].root))
    await _open(server, file, await report(server, runs), "The attempts are in")


async def report(server: Server, runs: Sequence[Run]) -> str:
    """All attempts of these runs as Markdown; a notebook's lines are named as rows of its cells.

    Diffs of long files take a second, so they are made in a thread.
    """
    text = await asyncio.to_thread(page_text.attempts, runs)
    for run in runs:
        text = notifications.named(server, run, text)
    return text


async def compared(server: Server, run: Run, number: int) -> None:
    """Opens a page with the change that an attempt would make to the current text."""
    attempt = next(attempt for attempt in run.attempts if attempt.number == number)
    text = await asyncio.to_thread(page_text.compared, run, attempt, await attempt_texts.texts(server, run, attempt))
    await _open(server, _file(run, "compared"), notifications.named(server, run, text), "The comparison is in")


async def findings(server: Server, root: Path | None, rows: list[Row]) -> None:
    """Opens a page with the doctor's findings about a folder, or about the machine where none is open."""
    await _open(server, _named("doctor", str(root or "")), page_text.findings(rows), "The findings are in")


async def result(server: Server, run: Run) -> tuple[bool, Path | None, str]:
    """Shows a result's change: whether the editor opened the page, its path (None: not written), and the diff.

    The diff is empty where nothing can be applied now.
    """
    changes = plan(server, run)
    if not isinstance(changes, list) or not changes:
        return False, None, ""
    before, after = {each.path: each.current for each in changes}, {each.path: each.wanted for each in changes}
    diff = page_text.diff(before, after)
    diff = notifications.named(server, run, diff)
    page = await _written(_file(run, "result"), notifications.named(server, run, page_text.result(run, diff)))
    return page is not None and await client_requests.show(server, uri_from_path(page)), page, diff


async def _open(server: Server, file: str, text: str, told: str) -> None:
    page = await _written(file, text)
    if page is None:
        client_requests.tell(
            server, f"A page cannot be written into {state_folder()}; free some space there, or let it be written."
        )
    elif not await client_requests.show(server, uri_from_path(page)):
        client_requests.tell(server, f"{told} {page}")


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
    path, temporary = folder / name, folder / f".{uuid.uuid4()}"
    try:
        temporary.write_text(text, encoding="utf-8", errors="replace")
        temporary.chmod(0o400)
        if os.name == "nt" and path.exists():
            # Windows cannot replace a read-only file.
            path.chmod(0o600)
        temporary.replace(path)
    except OSError:
        # A full disk must not also keep half a page.
        temporary.unlink(missing_ok=True)
        raise
    with contextlib.suppress(OSError):
        pages = sorted(folder.glob("*.md"), key=lambda page: page.stat().st_mtime, reverse=True)
        for old in pages[FILES:]:
            old.unlink()
    return path
