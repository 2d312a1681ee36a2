"""Writes read-only pages into the state folder; the editor opens them, or the user gets their path.

One file for each target and kind, so that the folder stays small. No page is ever written into the workspace.
Text from models and tests is cleaned, fenced and cut to a length: no links, no images, no control characters.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import logging
import os
import re
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from greenloop import api
from greenloop.api.settings import state_folder
from greenloop.core.records.attempt import Attempt
from greenloop.core.text.diff import diff_files, with_plain_ends
from greenloop.core.text.redact import clean_for_display
from greenloop.core.text.uris import uri_from_path
from greenloop.lsp.editor import Editor
from greenloop.lsp.presenters import hover_text
from greenloop.lsp.presenters.hover_text import describe_asked
from greenloop.lsp.presenters.notifications import evidence_text, name_places
from greenloop.lsp.state import attempt_texts
from greenloop.lsp.state.attempt_texts import AttemptText
from greenloop.lsp.state.run import Run
from greenloop.wording.attempt import attempt_label, attempt_line, attempt_table
from greenloop.wording.markup import code, code_block
from greenloop.wording.model import describe_model
from greenloop.wording.outcome import outcome_in_short

if TYPE_CHECKING:
    from greenloop.api.health import DoctorFinding

log = logging.getLogger(__name__)

FILES = 200  # newest pages that are kept
READ_ONLY = "_Written by greenloop. Read-only: changes to this page have no effect._"
LONGEST_EXCERPT = 10_000  # maximum characters of one answer, diff or output
LONGEST_PAGE = 1_000_000  # maximum characters of a page
FIRST_LINES = 20  # maximum lines of a diff in a message
TESTS = 200


class Pages:
    """The pages that this server opens."""

    def __init__(self, editor: Editor) -> None:
        self._client, self._documents = editor.client, editor.documents

    async def open_attempts(self, runs: Sequence[Run]) -> None:
        """Opens a page with all attempts of one run, or of several runs."""
        if len(runs) == 1:
            file = _file(runs[0])
        else:
            file = _file_name(Path(runs[0].uri).stem, *sorted({run.target.selector for run in runs}), str(runs[0].root))
        await self._open(file, await self.attempts(runs), "The attempts are in")

    async def attempts(self, runs: Sequence[Run]) -> str:
        """All attempts of these runs as Markdown, with places that the user knows.

        Diffs of long files take a second, so they are made in a thread.
        """
        text = await asyncio.to_thread(attempts_page, runs)
        for run in runs:
            text = name_places(self._documents, run, text)
        return text

    async def open_comparison(self, run: Run, number: int) -> None:
        """Opens a page with the change that an attempt would make to the current text."""
        attempt = next(attempt for attempt in run.attempts if attempt.number == number)
        texts = await attempt_texts.current_texts(self._documents, run, attempt)
        text = await asyncio.to_thread(comparison_page, run, attempt, texts)
        await self._open(_file(run, "compared"), name_places(self._documents, run, text), "The comparison is in")

    async def open_findings(self, root: Path | None, rows: list[DoctorFinding]) -> None:
        """Opens a page with the doctor's findings about a folder, or about the machine where none is open."""
        await self._open(_file_name("doctor", str(root or "")), doctor_page(rows), "The findings are in")

    async def open_result(self, run: Run, diff: str) -> tuple[bool, Path | None]:
        """Opens a page with a result's change: whether the editor did, and the page's path (None: not written)."""
        page = await _write(_file(run, "result"), name_places(self._documents, run, result_page(run, diff)))
        return page is not None and await self._client.show_document(uri_from_path(page)), page

    async def _open(self, file: str, text: str, otherwise: str) -> None:
        """Opens a page; an editor that cannot gets the sentence `otherwise` with its path."""
        page = await _write(file, text)
        if page is None:
            self._client.show_message(
                f"The page cannot be written to {state_folder()}. Free some space there, or make it writable."
            )
        elif not await self._client.show_document(uri_from_path(page)):
            self._client.show_message(f"{otherwise} {page}")


def _file(run: Run, kind: str = "") -> str:
    return _file_name(run.name, run.target.selector, str(run.root), kind=kind)


def _file_name(name: str, *key: str, kind: str = "") -> str:
    digest = hashlib.sha256("\0".join(key).encode()).hexdigest()[:12]
    return "-".join(filter(None, [re.sub(r"[^A-Za-z0-9_]+", "-", name)[:40], digest, kind])) + ".md"


async def _write(name: str, text: str) -> Path | None:
    try:
        return await asyncio.to_thread(_write_file, name, text)
    except OSError as error:
        log.warning("A page could not be written: %s", error.strerror)
        return None


def _write_file(name: str, text: str) -> Path:
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


def attempts_page(runs: Sequence[Run]) -> str:
    """All about each run: its attempts with their changes, failures, output, feedback and cost."""
    parts = [READ_ONLY]
    for run in runs:
        parts += [
            _heading(run),
            code(hover_text.state(run)),
            attempt_table(run.attempts),
            *describe_asked(run),
            *hover_text.provenance(run),
        ]
        parts += hover_text.generated_tests(run, most=TESTS)
        for attempt in run.attempts:
            parts += _attempt(run, attempt)
    return _limit_length("\n\n".join(parts) + "\n")


def comparison_page(run: Run, attempt: Attempt, texts: Mapping[str, AttemptText]) -> str:
    """The change that an attempt would make to the user's current texts, by path."""
    parts = [
        _heading(run),
        code(f"{_name(attempt)} compared with your current text"),
        READ_ONLY,
        code(attempt_line(attempt)),
    ]
    if not texts:
        return "\n\n".join([*parts, "This attempt has no code to compare."]) + "\n"
    conflicting = [path for path, text in texts.items() if text.has_conflict]
    parts += [
        f"{code(path)} also changed in the same lines since; the comparison includes both changes."
        for path in conflicting
    ]
    change = diff(
        {path: text.current for path, text in texts.items()}, {path: text.text for path, text in texts.items()}
    )
    parts.append(code_block(change, "diff") if change else "Your text already contains this change.")
    return _limit_length("\n\n".join(parts) + "\n")


def result_page(run: Run, diff_text: str) -> str:
    """A result that is not applied yet, as a diff."""
    assert run.outcome is not None
    verdict = evidence_text(run.outcome) if run.outcome.solved else outcome_in_short(run.outcome)
    return _limit_length(
        "\n\n".join([_heading(run), code(verdict), READ_ONLY, "Not applied yet:", code_block(diff_text, "diff")]) + "\n"
    )


def doctor_page(rows: list[DoctorFinding]) -> str:
    """The doctor's findings: a table of parts, and a conclusion."""
    table = ["| | part | name | found | remedy |", "|---|---|---|---|---|"]
    for row in rows:
        cells = (code(text) if text else "" for text in (row.name, row.detail, row.remedy))
        table.append(f"| {' | '.join((api.health.status_word(row), row.part, *cells))} |")
    return _limit_length(
        "\n\n".join(["# greenloop doctor", READ_ONLY, code(api.health.summary(rows)), "\n".join(table)]) + "\n"
    )


def first_lines(diff_text: str) -> str:
    """The first lines of a diff for a message, without the files' headers."""
    lines = [line for line in clean_for_display(diff_text).splitlines() if not line.startswith(("--- ", "+++ "))]
    remaining = len(lines) - FIRST_LINES
    return "\n".join([*lines[:FIRST_LINES], f"… {remaining} more lines"] if remaining > 0 else lines)


def diff(before: Mapping[str, str | None], after: Mapping[str, str]) -> str:
    """The changes of all files as one unified diff; different line ends alone do not count."""
    old = {path: None if text is None else with_plain_ends(text) for path, text in before.items()}
    return diff_files(old, {path: with_plain_ends(text) for path, text in after.items()})


def _heading(run: Run) -> str:
    return f"# {code(run.target.selector)}"


def _attempt(run: Run, attempt: Attempt) -> list[str]:
    parts = [f"## {_name(attempt).capitalize()}", *_facts(attempt)]
    for look in attempt.looks:
        parts += [f"Look: {code(look.summary)}, {look.seconds:.1f} s", _excerpt(look.result, "text")]
    if attempt.verdict.reason:
        parts.append(code(attempt.verdict.reason))
    for case in (*attempt.verdict.cases, *attempt.verdict.collateral):
        parts.append(f"{code(case.id)}: {case.outcome}")
        if case.failure is not None:
            parts.append(_excerpt(case.failure.text or case.failure.message, "text"))
    if attempt.verdict.output.strip():
        parts += ["Test output:", _excerpt(attempt.verdict.output, "text")]
    parts += _tests("Also passes now:", attempt.verdict.turned_green)
    parts += _tests("Still red:", attempt.verdict.still_red)
    if change := hover_text.diff_of(run, attempt):
        parts += ["Change:", _excerpt(change, "diff")]
    if attempt.blemishes:
        parts += ["To clean up:", "\n".join(f"- {code(each)}" for each in attempt.blemishes)]
    if attempt.answer:
        parts += ["Model's answer:", _excerpt(attempt.answer, "text")]
    for name, text in _other_texts(attempt).items():
        parts += [f"{name.capitalize()}:", _excerpt(text, "text")]
    feedback = "\n\n".join(note.text for note in attempt.notes if note.text.strip())
    return [*parts, "Feedback to the model:", _excerpt(feedback, "text")] if feedback else parts


def _other_texts(attempt: Attempt) -> dict[str, str]:
    """Texts of planners and critics about the attempt, by name: plans, an explanation, an answer that was not used."""
    found: dict[object, object] = {}
    for note in attempt.notes:
        artefacts = note.fields.get("artefacts")
        found |= artefacts if isinstance(artefacts, Mapping) else {}
        found |= {name: note.fields.get(name) for name in ("explanation", "unparsable")}
    return {str(name): str(text) for name, text in found.items() if text}


def _tests(heading: str, cases: Sequence[str]) -> list[str]:
    return [heading, "\n".join(f"- {code(case)}" for case in cases[:TESTS])] if cases else []


def _facts(attempt: Attempt) -> list[str]:
    """The attempt's move, model and cost, in one line."""
    if not attempt.number:
        return [f"Tests: {attempt.verdict.seconds:.1f} s."]
    usage, draft = attempt.spent, attempt.draft
    cost = "price unknown" if usage.cost is None else f"${usage.cost:.4f}"
    model = code(describe_model(attempt.model))
    origin = f"{draft.move.value} by {model}" if draft else model
    cached = f", {usage.cached_tokens:,} of them cached" if usage.cached_tokens else ""
    tokens = f"{usage.tokens:,} tokens ({usage.prompt_tokens:,} read{cached}, {usage.completion_tokens:,} written)"
    return [f"{origin}: {tokens}, {cost}, model {usage.model_seconds:.1f} s, tests {usage.test_seconds:.1f} s."]


def _name(attempt: Attempt) -> str:
    return f"attempt {attempt_label(attempt)}" if attempt.number else "your code"


def _excerpt(text: str, language: str) -> str:
    remaining = len(text) - LONGEST_EXCERPT
    return code_block(text[:LONGEST_EXCERPT] + f"\n… {remaining} more characters" if remaining > 0 else text, language)


def _limit_length(text: str) -> str:
    return text if len(text) <= LONGEST_PAGE else f"{text[:LONGEST_PAGE]}\n\n… cut: the page would be too long.\n"
