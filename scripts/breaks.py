#!/usr/bin/env python3
"""Breaks the product on purpose, one promise at a time in a scratch copy, and shows which tests notice.

`scripts/breaks.py` runs the tests of `make quick`, and what `make test` adds to them where these notice nothing;
`--tier quick` or `--tier stories` runs only one of the two.
A break first meets the tests of its own room, which notice it soonest; `--first PATH` names others. `--only WORDS`
tries breaks whose promise has these words. The result is a Markdown table; exit code 1 where nothing noticed a break.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PRODUCT = "server/greenloop"
SECONDS = 900  # of one run of pytest; a break may make tests hang
# The table's own test, and those that fail without any break.
DESELECTED = ["tests/repository/test_breaks.py"]


@dataclass(frozen=True, kw_only=True)
class Break:
    """In `file` the text `old`, which is there once, becomes `new`; `room` has its tests.

    `file` is below server/greenloop, or begins with greenloop_sandbox/.
    """

    promise: str
    file: str
    old: str
    new: str
    room: str

    @property
    def path(self) -> str:
        return f"sandbox/{self.file}" if self.file.startswith("greenloop_sandbox/") else f"{PRODUCT}/{self.file}"

    def apply_to(self, text: str) -> str:
        """The broken text. Raises `ValueError` where the old text does not stand there exactly once."""
        if (times := text.count(self.old)) != 1:
            raise ValueError(f"{self.path} has the text {self.old!r} {times} times; correct the table in {__file__}")
        return text.replace(self.old, self.new)


BREAKS = (
    Break(
        promise="execution decides: a failing case is no pass",
        file="core/verdict.py",
        old='return (Status.PASSED, "") if all_pass else (Status.FAILED, "")',
        new='return (Status.PASSED, "")',
        room="tests/unit/core",
    ),
    Break(
        promise="a pass is proven only if your own code put back fails",
        file="verdict/apart.py",
        old="same := await runs.passing_with_own_code(was_red)",
        new="same := ()",
        room="tests/unit/verdict",
    ),
    Break(
        promise="what was typed in the same lines is not merged",
        file="core/text/diff.py",
        old="a.start <= b.end and b.start <= a.end",
        new="a.start == b.start and a.lines == b.lines",
        room="tests/unit/core",
    ),
    Break(
        promise="the budget of tokens holds",
        file="core/budget.py",
        old="self.budget.tokens - self.used.tokens",
        new="10**9 - self.used.tokens",
        room="tests/unit/core",
    ),
    Break(
        promise="tests do not see .env",
        file="greenloop_sandbox/records.py",
        old="self._path.match(path) or self",
        new="self._path.match(path) and self",
        room="tests/unit/sandbox",
    ),
    Break(
        promise="the baseline: a flaky test ends the run",
        file="localize/early_end.py",
        old="    if not flaky:\n",
        new="    if True:\n",
        room="tests/unit/localize",
    ),
    Break(
        promise="the wire: what is no JSON gets a reply",
        file="lsp/connection/jsonrpc.py",
        old="except (ValueError, RecursionError):",
        new="except RecursionError:",
        room="tests/unit/lsp",
    ),
    Break(
        promise="a history of an earlier version opens",
        file="engine/history/rows.py",
        old="if version > FORMAT:",
        new="if version not in (0, FORMAT):",
        room="tests/unit/engine",
    ),
    Break(
        promise="candidates have no network",
        file="greenloop_sandbox/backends/_mounts.py",
        old='if network:\n        yield "--share-net"',
        new='yield "--share-net"',
        room="tests/unit/sandbox",
    ),
    Break(
        promise="cancelling ends the run",
        file="lsp/state/run.py",
        old="            self.work.cancel()\n",
        new="            pass\n",
        room="tests/unit/lsp",
    ),
    Break(
        promise="tests are never changed",
        file="localize/regions.py",
        old="and not is_trusted(path, patterns) and",
        new="and",
        room="tests/unit/localize",
    ),
    Break(
        promise="the most suspicious function is changed",
        file="localize/ranking.py",
        old="return (-round(total[region], 9),",
        new="return (round(total[region], 9),",
        room="tests/unit/localize",
    ),
    Break(
        promise="every selected test runs",
        file="core/test_selection.py",
        old="tuple(dict.fromkeys(map(selector_of, ids)))",
        new="tuple(dict.fromkeys(map(selector_of, ids[:1])))",
        room="tests/unit/core",
    ),
    Break(
        promise="an edit names the version of its text",
        file="lsp/runs/edit_plan.py",
        old="document.version if document else None",
        new="None",
        room="tests/unit/lsp",
    ),
    Break(
        promise="every example of a docstring is a case",
        file="specs/doctest.py",
        old="enumerate(parsed, 1)",
        new="enumerate(parsed[:1], 1)",
        room="tests/unit/plugins/stated_examples",
    ),
    Break(
        promise="a repository chooses no model and no sandbox",
        file="project/configuration.py",
        old='if repository and metadata["repository"] == "no":',
        new='if repository and metadata["repository"] == "never":',
        room="tests/unit/project",
    ),
    Break(
        promise="a passing error of a provider is retried",
        file="plugins/remote_models/waits.py",
        old="if self.failures >= self.retries:",
        new="if self.failures >= 0:",
        room="tests/unit/models",
    ),
    Break(
        promise="the model is told the error",
        file="drafting/prompt.py",
        old="for note in parent.notes if note.text",
        new="for note in parent.notes if not note.text",
        room="tests/unit/drafting",
    ),
    Break(
        promise="the default preset tries cheap steps first",
        file="engine/presets.toml",
        old='search = "ladder"',
        new='search = "chain"',
        room="tests/unit/engine",
    ),
    Break(
        promise="an assertion in a docstring is a case",
        file="plugins/stated_examples/assert_lines.py",
        old=r"(?=(?:assert\b|with",
        new=r"(?=(?:with",
        room="tests/unit/plugins/stated_examples",
    ),
)


def main() -> int:
    """Prints the table; 0 where each break was noticed."""
    options = parse_options()
    breaks = [break_ for break_ in BREAKS if options.only in break_.promise]
    with tempfile.TemporaryDirectory(prefix="greenloop-breaks-") as folder:
        copy = copy_repository(Path(folder))
        print("| break | noticed by | test |\n|---|---|---|", flush=True)
        missed = 0
        for break_ in breaks:
            tier, name = find_noticing_test(break_, copy, options)
            missed += not name
            print(f"| {break_.promise} | {tier} | {f'`{name}`' if name else ''} |", flush=True)
    print(f"\n{len(breaks) - missed} of {len(breaks)} breaks were noticed.")
    return 1 if missed else 0


def parse_options() -> argparse.Namespace:
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tier", choices=["quick", "stories", "test"], default="test")
    parser.add_argument("--only", default="", metavar="WORDS")
    parser.add_argument("--first", nargs="+", default=[], metavar="PATH")
    return parser.parse_args()


def copy_repository(folder: Path) -> Path:
    """A copy of the repository as it stands, without what is ignored."""
    words = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(words, cwd=ROOT, capture_output=True, check=True)
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    return folder


def find_noticing_test(break_: Break, copy: Path, options: argparse.Namespace) -> tuple[str, str]:
    """The tier that noticed the break, and the test: it fails alone too, and without the break it passes."""
    file = copy / break_.path
    original = file.read_text(encoding="utf-8")
    for tier, paths, marks in list_runs(break_, options):
        while True:
            file.write_text(break_.apply_to(original), encoding="utf-8")
            name = first_failing_test(copy, paths, marks)
            function = name.partition("[")[0]
            is_steady = bool(name) and bool(first_failing_test(copy, [function]))
            file.write_text(original, encoding="utf-8")
            if not is_steady:
                break
            if not first_failing_test(copy, [function]):
                return tier, name
            print(f"{function} fails without any break, too; it is left out", file=sys.stderr)
            DESELECTED.append(function)
    return "nobody", ""


def list_runs(break_: Break, options: argparse.Namespace) -> Iterator[tuple[str, list[str], str]]:
    """Tier, paths and marks of each run; editors, model and VS Code tell the same stories, and take minutes."""
    if options.tier != "stories":
        yield "quick", options.first or [break_.room], "not needs"
        yield "quick", ["tests/unit", "tests/contract", "tests/repository"], "not needs"
    if options.tier != "quick":
        if options.tier == "stories" and options.first:
            yield "test", options.first, "story"
        yield "test", ["tests/process"], ""
        yield "test", ["tests/lsp", "tests/sandbox", "tests/contract"], "story"


def first_failing_test(copy: Path, paths: list[str], marks: str = "") -> str:
    """The first test that fails; nothing where all pass."""
    words = [sys.executable, "-m", "pytest", "-q", "-x", "-rfE", "--tb", "no", "-p", "no:cacheprovider"]
    words += ["-m", marks]
    if "::" not in paths[0]:
        words += ["-n", "2", "--dist", "worksteal", *(f"--deselect={name}" for name in DESELECTED)]
    words += [path for path in paths if (copy / path.partition("::")[0]).exists()]
    # The copy comes before the environment's own greenloop, also in the servers that tests start.
    sources = os.pathsep.join((str(copy / "server"), str(copy / "sandbox")))
    environment = {**os.environ, "PYTHONPATH": sources, "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        process = subprocess.run(
            words, cwd=copy, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return paths[0]
    if process.returncode in {0, 5}:
        return ""
    match = re.search(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", process.stdout, re.MULTILINE)
    if match is None:
        raise SystemExit(f"pytest broke down:\n{process.stdout}{process.stderr}")
    return match[1]


if __name__ == "__main__":
    sys.exit(main())
