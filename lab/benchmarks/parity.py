"""Compares real projects: does every test have the same outcome in the sandbox as on the host?

Run: python lab/benchmarks/parity.py [--list FILE] [--cache FOLDER] [--only NAME ...] [--document FILE] [--report]

parity.toml lists the projects, parity_kinds.toml and parity_large.toml more of them. Each is unpacked from its source
archive and installed, editable, in a virtual environment of its own; then its whole suite runs twice on the host (a
test that differs there is flaky) and, where it is short, twice in the back end that greenloop chooses: a second run may
use what the first has learnt. What differs then runs alone on the host once more: a test that has the sandbox's outcome
there is flaky.
The result of each project is kept, so that some can be run again. Exit status 1: a project differs by more than 1 %, or
a difference has no name.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import differences
import parity_table
from parity_host import run_on_host
from parity_table import Row, summary, table

from greenloop.core.errors import CannotVerifyError
from greenloop.engine import sandbox_spec
from greenloop.project import configuration
from greenloop.project.environment import interpreters
from greenloop_sandbox import CaseResult, Execution, TestRun, case_results
from greenloop_sandbox.report.cases import describe_end

HERE = Path(__file__).resolve().parent
MOST_REPEATED = 100  # tests that differ
MAX_SECONDS_TO_REPEAT = 60.0  # seconds of a suite up to which it runs twice in the sandbox


@dataclass(frozen=True, kw_only=True)
class Project:
    """A line of parity.toml."""

    name: str
    version: str
    kind: str
    tests: tuple[str, ...]
    seconds: float = 300.0
    select: tuple[str, ...] = ()  # the files and folders that run, where the whole suite takes too long
    configuration: str = ""  # pytest.ini, where the source archive lacks what its tests are run with
    files: Mapping[str, str] = field(default_factory=dict)  # path -> text, which the source archive lacks
    wheel: bool = False  # unpacked from its wheel, where compiling it takes too long; its dependencies are in `tests`

    memory: int = 0  # mebibytes for the sandbox, where its tests need more than the setting has
    commit: bool = False  # its files are in a git repository, as users have them: keys among them are then test data

    @property
    def has_manage(self) -> bool:
        """True if its tests run as `manage.py test` on the host."""
        return "manage.py" in self.files

    def added_files(self) -> dict[str, str]:
        return {**({"pytest.ini": self.configuration} if self.configuration else {}), **self.files}


# -- the project --------------------------------------------------------------------------------------------------


def prepare_project(project: Project, cache: Path) -> Path:
    """The folder of the project, unpacked and installed; what is there already is used again."""
    folder = cache / project.name / f"{project.name}-{project.version}"
    ready, wanted = folder / ".venv" / "ready", "\n".join(project.tests)
    if ready.exists() and ready.read_text(encoding="utf-8") == wanted:
        return folder
    shutil.rmtree(folder.parent, ignore_errors=True)
    folder.parent.mkdir(parents=True)
    download = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", folder.parent]
    form = "--only-binary" if project.wheel else "--no-binary"
    _run_quietly([*download, form, project.name, f"{project.name}=={project.version}"])
    if project.wheel:
        shutil.unpack_archive(next(folder.parent.glob("*.whl")), folder, "zip")
    else:
        shutil.unpack_archive(next(folder.parent.glob("*.tar.gz")), folder.parent / "unpacked", filter="data")
        next((folder.parent / "unpacked").iterdir()).rename(folder)
    for name, text in project.added_files().items():
        (folder / name).write_text(text, encoding="utf-8")
    _run_quietly([sys.executable, "-m", "venv", folder / ".venv"])
    itself: list[str | Path] = [] if project.wheel else ["-e", folder]
    _run_quietly([folder / ".venv/bin/python", "-m", "pip", "install", "-q", *itself, *project.tests])
    if project.commit:
        git = ["git", "-C", folder, "-c", "user.name=parity", "-c", "user.email=parity@localhost"]
        _run_quietly(["git", "init", "-q", folder])
        (folder / ".git/info/exclude").write_text("/.venv/\n", encoding="utf-8")
        _run_quietly([*git, "add", "--all", "--force", ":!.venv"])
        _run_quietly([*git, "commit", "-q", "-m", "the source archive"])
    ready.write_text(wanted, encoding="utf-8")
    return folder


def _run_quietly(command: list[str | Path]) -> None:
    process = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if process.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command[:5]))} ... failed:\n{process.stdout[-1500:]}")


# -- the two sides ------------------------------------------------------------------------------------------------


def _run_project(project: Project, folder: Path, select: Sequence[str]) -> tuple[Execution, float]:
    return run_on_host(folder, project.seconds, folder.parent, select=select, has_manage=project.has_manage)


async def run_in_sandbox(
    folder: Path, seconds: float, select: Sequence[str] = (), *, memory: int = 0
) -> list[Execution]:
    """The suite in the back end that greenloop chooses, with its own settings but for the limits of time and memory.

    A suite of less than a minute runs twice: what the first run taught the session matters to short ones.
    """
    loaded_settings, _warnings = configuration.load(folder, command_line={"sandbox.memory": memory} if memory else {})
    back_end, place = await sandbox_spec.choose_sandbox(folder, loaded_settings)
    session = await back_end.open(place)
    try:
        executions = []
        for baseline in (True, False):
            executions.append(await session.run(TestRun(selectors=tuple(select), seconds=seconds, baseline=baseline)))
            if executions[-1].broken:
                raise RuntimeError(executions[-1].broken)
            if executions[-1].seconds > MAX_SECONDS_TO_REPEAT:
                break
            if (learning := getattr(session, "_learning", None)) is not None:
                await learning
        return executions
    finally:
        await session.close()


Results = dict[str, CaseResult]


def results_by_id(execution: Execution) -> dict[str, CaseResult]:
    return {result.id: result for result in case_results(execution)}


def compare_project(project: Project, cache: Path) -> Row:
    """Makes one row of the table; a fault of the whole project is in `problem`."""
    row = Row(name=project.name, version=project.version, kind=project.kind)
    try:
        folder = prepare_project(project, cache)
        first, row.host = _run_project(project, folder, project.select)
        second, again = _run_project(project, folder, project.select)
        row.host = min(row.host, again)
        environment = interpreters.find_environment(folder, configuration.load(folder)[0])
        executions = asyncio.run(run_in_sandbox(folder, project.seconds, project.select, memory=project.memory))
    except subprocess.TimeoutExpired:
        row.problem = f"the suite did not end on the host within {project.seconds:.0f} s"
        return row
    except (RuntimeError, OSError, CannotVerifyError) as error:
        row.problem = str(error)
        return row
    row.sandbox = min(execution.seconds for execution in executions)
    host, repeated = results_by_id(first), results_by_id(second)
    inside = [results_by_id(execution) for execution in executions]
    flaky = {case for case in host | repeated if _outcome_of(host, case) != _outcome_of(repeated, case)}
    flaky |= _find_flaky(project, folder, host, inside, flaky)
    every = dict.fromkeys([*host, *(case for found in inside for case in found)])
    row.ids, row.flaky = len(every), len(flaky)
    row.problem = next((f"the sandbox ended a run: {describe_end(run)}" for run in executions if run.killed), "")
    differing_rows = []
    for case in every:
        other = next((found for found in inside if _outcome_of(found, case) != _outcome_of(host, case)), None)
        if other is None or case in flaky:
            continue
        failure = other[case].failure if case in other else None
        host_output = _host_output(first, case)
        cause = differences.find_cause(failure, host_output, case=case, root=folder, environment=environment)
        row.differing[case] = (_outcome_of(host, case), _outcome_of(other, case), cause)
        differing_rows.append(
            {"id": case, "sides": row.differing[case], "inside": failure and failure.text, "host": host_output}
        )
    (folder.parent / "differing.json").write_text(json.dumps(differing_rows, indent=1), encoding="utf-8")
    return row


def _find_flaky(project: Project, folder: Path, host: Results, inside: list[Results], known: set[str]) -> set[str]:
    """Runs the tests that differ alone on the host, in their files' order; returns those with the sandbox's outcome."""
    differing = [case for case in host if any(_outcome_of(each, case) != _outcome_of(host, case) for each in inside)]
    again = [case for case in differing if case not in known][:MOST_REPEATED]
    if not again:
        return set()
    try:
        alone = results_by_id(_run_project(project, folder, again)[0])
    except (subprocess.TimeoutExpired, RuntimeError):
        return set()
    return {case for case in again if all(_outcome_of(each, case) in _sides(host, alone, case) for each in inside)}


def _sides(host: Results, alone: Results, case: str) -> set[str]:
    return {_outcome_of(host, case), _outcome_of(alone, case)}


def _outcome_of(found: dict[str, CaseResult], case: str) -> str:
    return found[case].outcome if case in found else "not collected"


def _host_output(execution: Execution, case: str) -> str:
    return "\n".join(str(record.get("message", "")) for record in execution.records if record.get("id") == case)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    default = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "greenloop" / "parity"
    parser.add_argument("--cache", type=Path, default=default, help="where projects are unpacked and installed")
    parser.add_argument("--list", default="parity.toml", help="the list of projects, a file of this folder")
    parser.add_argument("--only", nargs="*", help="names of projects; the others are left out")
    parser.add_argument("--document", type=Path, help="a file whose part between the two marks is replaced")
    parser.add_argument("--prepare", action="store_true", help="only unpack and install")
    parser.add_argument("--report", action="store_true", help="run nothing; the table of the last results")
    options = parser.parse_args()
    listed = tomllib.loads((HERE / options.list).read_text(encoding="utf-8"))["project"]
    projects = [
        Project(**{**entry, "tests": tuple(entry["tests"]), "select": tuple(entry.get("select", ()))})
        for entry in listed
    ]
    if options.only and (unknown := set(options.only) - {project.name for project in projects}):
        parser.error(f"{options.list} has no project {min(unknown)}")
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it, as would its tests
    options.cache.mkdir(parents=True, exist_ok=True)
    for project in projects:
        if options.report or (options.only and project.name not in options.only):
            continue
        if options.prepare:
            print(project.name, prepare_project(project, options.cache), flush=True)
            continue
        row = compare_project(project, options.cache)
        (options.cache / project.name / "row.json").write_text(json.dumps(asdict(row)), encoding="utf-8")
        print(table([row]).splitlines()[-1], flush=True)
    rows = [
        Row(**json.loads(file.read_text(encoding="utf-8")))
        for project in projects
        if (file := options.cache / project.name / "row.json").exists()
    ]
    if not rows:
        return 0
    print(f"\n{summary(rows)}")
    if options.document:
        parity_table.update_document(options.document, Path(options.list).stem, rows)
    return 0 if len(rows) == len(projects) and all(row.good for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
