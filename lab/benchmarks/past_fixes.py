#!/usr/bin/env python3
"""Right fixes of past bugs: are they proven apart, and is one of them ever accused or refused?

    lab/benchmarks/past_fixes.py --clones FOLDER --pythons FOLDER [--only NAME ...] [--out FILE]

The recipes of history.toml: the tree before a commit with the commit's own tests is the revision, the commit's code is
the working tree, and `greenloop verify` judges it by the recipe's test (held-out tasks: by the changed files of
tests). FOLDER has a clone of each project under its
name, and a virtual environment with what its tests need. Nothing is downloaded. Held-out tasks are included. Each fix
is a line of the file of `--out`, and is not judged again where it is there already.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from greenloop.core.errors import GreenloopError
from greenloop.engine.verify.report import Verification
from greenloop.engine.verify.setup import VerifyRequest
from greenloop.engine.verify.verify import verify
from greenloop.project import configuration
from greenloop.project.revisions.git import Repository
from greenloop.project.sources import is_test_file
from greenloop_lab.bench.history import git_history, tree
from greenloop_lab.bench.reporting.figures import wilson

RECIPES = Path(__file__).parent / "history.toml"
GIT = ("git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main", "-c", "core.autocrlf=false")
VERIFIED, PARTIALLY, ACCUSED, REFUSED, NOT_RUN = "verified", "partially", "accused", "refused", "not run"
LABELS = (VERIFIED, PARTIALLY, ACCUSED, REFUSED, NOT_RUN)


async def judge(clone: Path, python: Path, recipe: dict[str, Any]) -> tuple[str, list[str]]:
    """The label of one fix, and the reasons for it."""
    repository = Repository.find(clone)
    (commit,) = git_history.read_commits(repository, recipe["commit"], most=1)
    with tempfile.TemporaryDirectory(prefix="greenloop-fixes-") as name:
        root = tree.lay_out(repository, commit.id, Path(name))
        _commit_all(root)
        tree.lay_over(repository, commit, root, judging=False)
        line: dict[str, Any] = {"interpreter": str(python), "sandbox.kind": "bubblewrap"}
        variables = tree.variables(root, configuration.load(root, command_line=line)[0])
        os.environ.update(variables)
        line["sandbox.env"] = [*variables]
        settings, _warnings = configuration.load(root, command_line=line)
        settings = tree.show_test_data(settings, root)
        files = [each.path for each in commit.changes if each.new and is_test_file(each.path)]
        targets = (recipe["test"],) if "test" in recipe else tuple(files)
        return label_of(await verify(VerifyRequest(root=root, targets=targets), settings=settings))


def _commit_all(root: Path) -> None:
    root.parent.chmod(0o755)
    for words in (["init", "-q"], ["add", "-Af"], ["commit", "-qm", "before"]):
        subprocess.run([*GIT, *words], cwd=root, check=True, capture_output=True)


def label_of(result: Verification) -> tuple[str, list[str]]:
    reasons = [f"{result.state.value}: {result.reason}", *result.doubts]
    named = [each.reason for each in result.tampered] + [str(each) for each in result.edits]
    if named:
        return ACCUSED, [*named, *reasons]
    if not (result.fixed or result.unearned or result.vetoed):
        return NOT_RUN, reasons
    if result.verified:
        return (PARTIALLY if result.doubts else VERIFIED), reasons
    return (PARTIALLY if result.vetoed else REFUSED), reasons


def fixes(only: Sequence[str]) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    for project in tomllib.loads(RECIPES.read_text(encoding="utf-8"))["project"]:
        if not only or project["name"] in only:
            yield from ((project, recipe) for recipe in project.get("task", ()))


def table(rows: Sequence[dict[str, Any]]) -> str:
    lines = [f"| project | fixes | {' | '.join(LABELS)} |", "|---" * (len(LABELS) + 2) + "|"]
    for name in [*dict.fromkeys(row["project"] for row in rows), ""]:
        labels = Counter(row["label"] for row in rows if name in ("", row["project"]))
        lines.append(f"| {name or '**all**'} | {labels.total()} | {' | '.join(str(labels[each]) for each in LABELS)} |")
    judged = [row for row in rows if row["label"] != NOT_RUN]
    for label in (VERIFIED, ACCUSED, REFUSED):
        count = sum(row["label"] == label for row in judged)
        low, high = wilson(count, len(judged))
        lines.append(f"\n{label}: {count} of {len(judged)} ({100 * low:.0f} to {100 * high:.0f} %)")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clones", type=Path, required=True, help="folder with a clone of each project")
    parser.add_argument(
        "--pythons", type=Path, required=True, help="folder with a virtual environment for each project"
    )
    parser.add_argument("--only", nargs="*", default=(), metavar="NAME", help="only these projects")
    parser.add_argument("--out", type=Path, metavar="FILE", help="a JSON object for each fix, added at the end")
    arguments = parser.parse_args()
    has_rows = arguments.out and arguments.out.exists()
    rows = [json.loads(line) for line in arguments.out.read_text().splitlines()] if has_rows else []
    known = {row["commit"] for row in rows}
    for project, recipe in fixes(arguments.only):
        name, clones = project["name"], arguments.clones.absolute()
        python = arguments.pythons.absolute() / name / "bin" / "python"
        clone = clones / name / project.get("folder", "")
        if recipe["commit"] in known or not python.exists() or not clone.exists():
            continue
        began = time.monotonic()
        try:
            label, reasons = asyncio.run(judge(clone, python, recipe))
        except GreenloopError as error:
            label, reasons = NOT_RUN, [f"{type(error).__name__}: {error}"]
        row = {"project": name, "commit": recipe["commit"], "label": label, "reasons": reasons}
        rows.append({**row, "seconds": round(time.monotonic() - began, 1)})
        print(f"{label:9} {name} {recipe['commit'][:12]} {' '.join(reasons)[:300]}", file=sys.stderr, flush=True)
        if arguments.out:
            with arguments.out.open("a", encoding="utf-8") as stream:
                print(json.dumps(rows[-1]), file=stream)
    print(table(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
