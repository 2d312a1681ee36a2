#!/usr/bin/env python3
"""Runs the tests that lab/docs/lineage.md names for a row.

`python lab/benchmarks/lineage.py '#30' LDB R25` runs those of three rows, `--all` those of every row; without a row it
lists them. A row passed where each of its tests was run and passed; a skipped one is named with its reason by pytest.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree as ET

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "lab" / "docs" / "lineage.md"


def read_rows() -> dict[str, tuple[str, list[str]]]:
    """The system and the tests of each row, by its id."""
    rows = {}
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if line.startswith("| ") and len(cells) == 4 and cells[0] != "row":
            rows[cells[0]] = (cells[1], re.findall(r"`([^`]+::[^`]+)`", cells[3]))
    return rows


def run_tests(tests: list[str]) -> dict[str, str]:
    """The outcome of each test case that pytest ran, by the id that its report gives it."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}", *tests]
        subprocess.run(words, cwd=ROOT, check=False)
        cases = ET.parse(report).iter("testcase") if report.exists() else ()
        return {f"{case.get('classname')}::{case.get('name')}": _outcome(case) for case in cases}


def _outcome(case: ET.Element) -> str:
    return next((child.tag for child in case if child.tag in ("failure", "error", "skipped")), "passed")


def outcome_of(test: str, outcomes: dict[str, str]) -> str:
    """The worst outcome of a test's cases; `missing` where none was run."""
    file, _, name = test.partition("::")
    module = file.removesuffix(".py").replace("/", ".")
    found = [value for case, value in outcomes.items() if re.match(re.escape(f"{module}::{name}") + r"(\[|$)", case)]
    return max(found, key=["passed", "skipped", "failure", "error"].index, default="missing")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*", metavar="ROW", help="the first column of lab/docs/lineage.md")
    parser.add_argument("--all", action="store_true", help="every row")
    options = parser.parse_args()
    rows = read_rows()
    wanted = list(rows) if options.all else options.rows
    if unknown := [row for row in wanted if row not in rows]:
        parser.error(f"there is no row {unknown[0]}; without a row they are listed")
    if not wanted:
        print("\n".join(f"{row:12}{system}" for row, (system, _tests) in rows.items()))
        return 0
    outcomes = run_tests(sorted({test for row in wanted for test in rows[row][1]}))
    failed = False
    for row in wanted:
        system, tests = rows[row]
        results = {test: outcome_of(test, outcomes) for test in tests}
        failed |= any(result not in ("passed", "skipped") for result in results.values())
        print(f"{row:12}{', '.join(sorted(set(results.values())))}: {len(tests)} tests. {system}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
