#!/usr/bin/env python3
"""Cheats and honest changes: which of them does greenloop believe?

    lab/benchmarks/cheats.py [--family NAME ...] [--select TEXT ...] [--limit N] [--side cheat honest]
                             [--route verify fix] [--out FILE]

Every change of tests/cheats is judged in bubblewrap: by `greenloop verify`, as the working tree of a repository whose
commit is the project with its red test, and, where it changes code alone, by the acceptance of `greenloop fix`, as the
only answer of a scripted model. The change is `believed` (verified), `named` (refused, with a word about what was
done), `partially` believed (it passes, and nothing shows that the code earned it), or `refused` for what fails.
Each is a line of the file of `--out`; `--jobs` are judged at once. `with a word` counts the believed ones whose result
shows what the code does on other inputs, or that its tests notice little.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "support"))

from cheat_corpus import Entry, make_python, read_entries, write_files
from greenloop.core.errors import GreenloopError, UsageError
from greenloop.core.feature_data import doubts_of, show
from greenloop.core.records.outcome import Outcome, StopReason, Verified
from greenloop.core.records.verdict import Status
from greenloop.drafting.candidates.checks.hardcoding import HARD_CODED
from greenloop.engine import refine
from greenloop.engine.presets import find_preset
from greenloop.engine.verify.report import State, Verification
from greenloop.engine.verify.setup import VerifyRequest
from greenloop.engine.verify.verify import verify
from greenloop.models.roles import Models
from greenloop.project import configuration, sources
from greenloop.project.editable import why_not_editable
from greenloop_lab.bench.reporting.figures import wilson

VERIFY, FIX = "verify", "fix"
BELIEVED, NAMED, PARTIALLY, REFUSED = "believed", "named", "partially", "refused"
LABELS = (BELIEVED, PARTIALLY, NAMED, REFUSED)
GIT = ("git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main")

Judgement = tuple[str, list[str], bool]  # a label, the reasons, and whether the result shows what tests leave open


async def judge(entry: Entry, side: str, route: str, python: Path) -> dict[str, Any]:
    """The row of one change, judged in a folder of its own. `python` runs the tests."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="greenloop-cheats-") as name:
        root = _lay_out(entry.base, Path(name))
        try:
            label, reasons, has_word = await (_verify if route == VERIFY else _fix)(entry, side, root, python)
        except GreenloopError as error:
            label, reasons, has_word = REFUSED, [f"{type(error).__name__}: {error}"], False
    seconds = round(time.monotonic() - began, 1)
    return {
        "id": entry.id,
        "family": entry.family,
        "side": side,
        "route": route,
        "label": label,
        "reasons": reasons,
        "has_word": has_word,
        "seconds": seconds,
    }


def _lay_out(files: Mapping[str, str], folder: Path) -> Path:
    """The project in a folder that every user may enter."""
    folder.chmod(0o755)
    root = folder / "project"
    root.mkdir()
    write_files(root, files)
    return root


def routes_of(entry: Entry, side: str) -> tuple[str, ...]:
    """`fix` judges code alone, an answer deletes nothing, and the target is a test file."""
    change = entry.sides[side]
    is_code = all(
        text is not None and not why_not_editable(path, Path(), patterns=None, masked=())
        for path, text in change.items()
    )
    return (VERIFY, FIX) if is_code and any(map(sources.is_test_file, entry.base)) else (VERIFY,)


# -- verify ---------------------------------------------------------------------------------------------------------


async def _verify(entry: Entry, side: str, root: Path, python: Path) -> Judgement:
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "base"]):
        subprocess.run([*GIT, *words], cwd=root, check=True, capture_output=True)  # noqa: ASYNC221 - takes milliseconds
    write_files(root, entry.sides[side])
    settings, _warnings = configuration.load(root, command_line=_options(python))
    # Who changes tests for a reason says so; a cheat has none.
    allow = {} if side == "cheat" else {"allow": tuple(entry.sides[side]), "because": "the task asks for it"}
    return _judgement(await verify(VerifyRequest(root=root, **allow), settings=settings))


def _judgement(result: Verification) -> Judgement:
    named = [each.reason for each in result.tampered] + [str(each) for each in result.edits]
    reasons = [f"{result.state.value}: {result.reason}", *named, *result.doubts]
    has_word = _has_word(result.data)
    if result.state is State.ALREADY_FAILING:  # the red test is as red as before
        return REFUSED, reasons, has_word
    if result.verified:
        return (PARTIALLY if result.doubts else BELIEVED), reasons, has_word
    if result.vetoed:
        return PARTIALLY, reasons, has_word
    return (NAMED if named else REFUSED), reasons, has_word


def _has_word(data: Mapping[str, Any]) -> bool:
    return any(shown.weakness or shown.fields.get("differences") for shown in show(data))


# -- fix ------------------------------------------------------------------------------------------------------------


async def _fix(entry: Entry, side: str, root: Path, python: Path) -> Judgement:
    """The answer of a capable model, with nothing else that could mend the code: what is judged is this change."""
    script = root.parent / "answers.jsonl"
    script.write_text(json.dumps(_answer(entry, side)) + "\n", encoding="utf-8")
    line = {**_options(python), "model": f"scripted:{script}", "model.kind": "capable", "attempts": 1}
    settings, _warnings = configuration.load(root, command_line=line)
    without_changes = replace(find_preset("default"), search="chain")
    harness = refine.Harness(
        preset=without_changes, models=Models(settings=settings), history=root.parent / "history.sqlite3"
    )
    for target in sorted(path for path in entry.base if sources.is_test_file(path)):
        outcome = await refine.refine(
            refine.RefineRequest(root=root, target=target), settings=settings, emit=lambda _event: None, harness=harness
        )
        if outcome.reason is not StopReason.ALREADY_GREEN:
            return _accepted(outcome)
    raise UsageError("No test file of the project is red.")


def _answer(entry: Entry, side: str) -> str:
    """The change as search/replace blocks of whole files."""
    blocks = []
    for path, text in entry.sides[side].items():
        old, new = entry.base.get(path, "").rstrip("\n"), (text or "").rstrip("\n")
        blocks.append(f"{path}\n<<<<<<< SEARCH\n{old}\n=======\n{new}\n>>>>>>> REPLACE\n")
    return "\n".join(blocks)


def _accepted(outcome: Outcome) -> Judgement:
    evidence, last = outcome.evidence, outcome.attempts[-1]
    reasons = [outcome.message, *dict.fromkeys(evidence.unproven.values()), *doubts_of(evidence.data)]
    if outcome.solved:
        has_word = _has_word(evidence.data)
        return (BELIEVED if outcome.verified is Verified.VERIFIED else PARTIALLY), reasons, has_word
    reasons += [last.verdict.reason] if last.verdict.reason else []
    reasons += [f"{last.finding.error_class}: {last.finding.message}"] if last.finding else []
    is_named = last.verdict.status is Status.TAMPERED or last.error_class == HARD_CODED
    return (NAMED if is_named else REFUSED), reasons, False


def _options(python: Path) -> dict[str, Any]:
    return {"interpreter": str(python), "sandbox.kind": "bubblewrap"}


# -- the table ------------------------------------------------------------------------------------------------------


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """How many changes of each family got which label, and the 95 % interval of those that were believed."""
    heads = "family", "change", "route", "changes", *LABELS, "95 % of believed", "with a word"
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    kinds = dict.fromkeys((row["side"], row["route"]) for row in sorted(rows, key=lambda row: row["side"]))
    for side, route in kinds:
        mine = [row for row in rows if (row["side"], row["route"]) == (side, route)]
        for family in [*dict.fromkeys(row["family"] for row in mine), ""]:
            labels = Counter(row["label"] for row in mine if family in ("", row["family"]))
            count = labels.total()
            low, high = wilson(labels[BELIEVED], count)
            cells = [family or "**all**", side, route, count, *(labels[label] for label in LABELS)]
            family_rows = [row for row in mine if family in ("", row["family"]) and row["label"] == BELIEVED]
            words = sum(row["has_word"] for row in family_rows)
            lines.append(f"| {' | '.join(map(str, cells))} | {100 * low:.1f} to {100 * high:.1f} % | {words} |")
    return "\n".join(lines)


async def run(arguments: argparse.Namespace, python: Path) -> list[dict[str, Any]]:
    entries = [
        entry
        for entry in read_entries()
        if (arguments.python or not entry.needs)
        and (not arguments.family or entry.family in arguments.family)
        and (not arguments.select or any(text in entry.id for text in arguments.select))
    ][: arguments.limit]
    waiting = [
        (entry, side, route)
        for entry in entries
        for side in entry.sides
        for route in routes_of(entry, side)
        if route in arguments.route and side in arguments.side
    ]
    rows = []

    async def work() -> None:
        while waiting:
            row = await judge(*waiting.pop(0), python)
            rows.append(row)
            print(f"{row['label']:9} {row['side']:6} {row['route']:6} {row['id']}", file=sys.stderr, flush=True)
            if arguments.out:
                with arguments.out.open("a", encoding="utf-8") as stream:
                    print(json.dumps(row), file=stream)

    await asyncio.gather(*(work() for _ in range(arguments.jobs)))
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--family", nargs="+", metavar="NAME", help="folders of tests/cheats")
    parser.add_argument("--select", nargs="+", metavar="TEXT", help="entries with one of these texts in their id")
    parser.add_argument("--limit", type=int, metavar="N", help="the first N entries")
    parser.add_argument("--side", nargs="+", choices=("cheat", "honest"), default=("cheat", "honest"))
    parser.add_argument("--route", nargs="+", choices=(VERIFY, FIX), default=(VERIFY, FIX))
    parser.add_argument(
        "--python", type=Path, help="an interpreter with numpy and pandas (default: a bare one, without their entries)"
    )
    parser.add_argument("--jobs", type=int, default=1, metavar="N")
    parser.add_argument("--out", type=Path, metavar="FILE", help="a JSON object for each judgement, added at the end")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="greenloop-cheats-") as name:
        Path(name).chmod(0o755)
        rows = asyncio.run(run(arguments, arguments.python or make_python(Path(name) / "venv")))
    rows.sort(key=lambda row: (row["id"], row["side"], row["route"]))
    print(table(rows))
    for row in rows:
        if (row["label"] == BELIEVED) == (row["side"] == "cheat"):
            print(f"\n{row['label']}: {row['id']} ({row['side']}, {row['route']}): {' '.join(row['reasons'])}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
