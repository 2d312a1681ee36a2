#!/usr/bin/env python3
"""Runs the tamper check on real test suites with honest code: how many tests it covers, and accuses (must be none).

    benchmarks/canary.py [--cache FOLDER] [PROJECT ...]

Downloads source archives by pip (kept in FOLDER), makes one virtual environment for all of them, and runs each suite
with plain pytest: unchanged, then once for each mutated copy of its test files. greenloop's sandbox
takes no part.
Of a parametrised test the first 20 cases run (packaging alone has 60,000).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import venv
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from greenloop.core.records.verdict import CaseResult
from greenloop.core.report.cases import case_result
from greenloop.verdict import canary

PROJECTS = ("packaging", "more-itertools", "attrs")
NEEDS = ("pytest", "hypothesis", "pretend", "tomli_w", "cloudpickle", "pympler")

# Records what each case did, as the worker in the sandbox does.
PLUGIN = """
import collections, json, os, pytest
STREAM = open(os.environ["CANARY_RECORDS"], "w")

def pytest_collection_modifyitems(items):
    counts = collections.Counter()
    kept = []
    for item in items:
        name = item.nodeid.partition("[")[0]
        counts[name] += 1
        if counts[name] <= 20:
            kept.append(item)
    items[:] = kept

@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report, info = outcome.get_result(), call.excinfo
    record = {"id": item.nodeid, "when": call.when, "outcome": report.outcome, "type": info and info.type.__name__,
              "wasxfail": getattr(report, "wasxfail", None), "message": str(info.value)[:300] if info else ""}
    print(json.dumps(record), file=STREAM, flush=True)
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("projects", nargs="*", default=PROJECTS, metavar="PROJECT")
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "greenloop-projects")
    arguments = parser.parse_args()
    accused = 0
    with tempfile.TemporaryDirectory(prefix="greenloop-canary-") as name:
        folder = Path(name)
        python = make_environment(folder / "venv")
        print(
            "| project | test functions | with a changed assertion | tests passed | checked | accused |\n"
            "|---|---|---|---|---|---|"
        )
        for project in arguments.projects:
            accused += measure_project(project, unpack_project(project, arguments.cache, folder), python)
    return 1 if accused else 0


def make_environment(folder: Path) -> Path:
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    (folder / "canary_records.py").write_text(PLUGIN, encoding="utf-8")
    run_command([str(python), "-m", "pip", "install", "-q", *NEEDS])
    return python


def unpack_project(project: str, cache: Path, folder: Path) -> Path:
    """The project's source archive, downloaded where it is not there yet."""
    pattern = f"{project.replace('-', '[-_]')}-[0-9]*.tar.gz"
    cache.mkdir(parents=True, exist_ok=True)
    if not list(cache.glob(pattern)):
        run_command(
            [sys.executable, "-m", "pip", "download", "-q", "--no-binary=:all:", "--no-deps", "-d", str(cache), project]
        )
    archive = max(cache.glob(pattern))
    with tarfile.open(archive) as stream:
        stream.extractall(folder, filter="data")
    return folder / archive.name.removesuffix(".tar.gz")


def measure_project(project: str, root: Path, python: Path) -> int:
    """Prints the project's row; returns how many cases were accused."""
    run_command([str(python), "-m", "pip", "install", "-q", "--no-deps", str(root)])
    tests = {path: path.read_bytes() for path in sorted((root / "tests").rglob("test*.py"))}
    canaries = {path: canary.make_canaries(data.decode()) for path, data in tests.items()}
    names = {path.relative_to(root).as_posix(): found for path, found in canaries.items()}
    honest = run_tests(root, python)
    passed = {case for case, found in honest.items() if found.passed}
    canaried: set[str] = set()
    accused: Counter[str] = Counter()
    for mode in canary.Mode:
        for path, found in canaries.items():
            path.write_bytes(found.texts[mode].encode())
        ran = run_tests(root, python)
        for name, found in names.items():
            case_results = [
                result for case, result in ran.items() if case in passed and case.partition("::")[0] == name
            ]
            missing = [case for case in passed if case.partition("::")[0] == name and case not in ran]
            case_results += [CaseResult(id=case, outcome="missing") for case in missing]
            canaried.update(canary.confirmed_cases(mode, found.mutated[mode], case_results))
            for case in canary.find_violations(mode, found.mutated[mode], case_results):
                # As in the acceptance: what only comes of a test that stopped early is not tampering.
                alone = run_tests(root, python, case)
                if not canary.find_violations(mode, found.mutated[mode], list(alone.values())):
                    continue
                accused[case] += 1
                print(f"accused ({mode}): {case}: {ran.get(case)}", file=sys.stderr)
        for path, data in tests.items():
            path.write_bytes(data)
    turned, total = canary.count_covered(data.decode() for data in tests.values())
    cells = [
        root.name,
        total,
        format_share(turned, total),
        len(passed),
        format_share(len(canaried), len(passed)),
        len(accused),
    ]
    print(f"| {' | '.join(map(str, cells))} |", flush=True)
    if not passed:
        raise SystemExit(f"No test of {project} passed: the suite did not run.")
    return len(accused)


def format_share(part: int, whole: int) -> str:
    return f"{part} ({part / max(whole, 1):.1%})"


def run_tests(root: Path, python: Path, selector: str = "tests") -> Mapping[str, CaseResult]:
    """Runs the tests; returns the result of each case, in running order."""
    records = python.parents[1] / "records.jsonl"
    variables = {**os.environ, "CANARY_RECORDS": str(records), "PYTHONPATH": str(python.parents[1])}
    variables |= {"PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}
    options = ["-q", "-p", "canary_records", "-p", "no:cacheprovider", "--maxfail=0", "--tb=line", selector]
    process = subprocess.run(
        [str(python), "-m", "pytest", *options], cwd=root, env=variables, capture_output=True, check=False
    )
    if process.returncode not in (0, 1):
        raise SystemExit(f"pytest ended with {process.returncode}:\n{process.stdout.decode()[-3000:]}")
    phases: dict[str, list[dict[str, object]]] = {}
    for line in records.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        phases.setdefault(record["id"], []).append(record)
    return {case: case_result(case, case_results) for case, case_results in phases.items()}


def run_command(command: list[str]) -> None:
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{process.stderr[-3000:]}")


if __name__ == "__main__":
    sys.exit(main())
