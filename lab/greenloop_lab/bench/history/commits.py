"""Repair tasks from a repository's own history: commits whose tests fail on the code before and pass after.

The project of a task is the tree before the commit with the commit's tests, laid out in a folder of its own; the
repository itself is never written. It must not know how a task is run or reported.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from greenloop.core.errors import CannotVerifyError, UsageError
from greenloop.core.test_selection import fit_selectors
from greenloop.project import workspace
from greenloop.project.revisions.git import Repository
from greenloop.project.revisions.judging import role_by_name
from greenloop.project.settings import Settings
from greenloop.project.sources import file_patterns, is_test_file
from greenloop_lab.bench.hidden_tests import open_session
from greenloop_lab.bench.history import functions as history_functions
from greenloop_lab.bench.history import git_history
from greenloop_lab.bench.history import records as history_records
from greenloop_lab.bench.history import tree as history_tree
from greenloop_lab.bench.history.functions import FunctionChanges
from greenloop_lab.bench.history.git_history import Change, Commit
from greenloop_lab.bench.history.records import Records, Tried
from greenloop_lab.bench.mutation.mutants import OTHER_SEED, outcomes_by_case
from greenloop_lab.bench.tasks import Task
from greenloop_sandbox import Execution, SandboxPool, Session, TestRun
from greenloop_sandbox.report.cases import collect_errors

# A commit of a repair changes few files and few lines; the rest are features and moves.
MAX_FILES, MAX_LINES, MAX_TEST_FILES = 3, 60, 20
MAX_CASES = 200  # that judge
SECONDS = 120.0  # for one run of the changed test files, unless `suite.seconds` gives more
COMMITS = 1000  # of the history that are read, unless more are asked for


@dataclass(frozen=True, kw_only=True)
class HistoryRequest:
    """Search for `count` tasks among the newest `commits` of `revisions`; `records` is the file to continue."""

    count: int
    revisions: str = ""
    commits: int = COMMITS
    records: Path | None = None
    is_excluded: Callable[[str], bool] = lambda _id: False
    report_status: Callable[[str], None] = lambda _text: None


@dataclass(frozen=True, kw_only=True)
class _Fix:
    """A commit that may be a task: changed code and tests, the code's texts before and after, what differs in it."""

    commit: Commit
    tests: tuple[Change, ...]
    before: Mapping[str, str]
    after: Mapping[str, str]
    functions: FunctionChanges


def split_source(name: str) -> tuple[Path, str]:
    """The folder and the revisions of `REPO[..RANGE]`; a folder's own name may have dots too.

    Raises `UsageError` where there is no such folder.
    """
    dots = [at for at in range(len(name)) if name.startswith("..", at)]
    for at in [len(name), *reversed(dots)]:
        folder = Path(name[:at])
        if name[:at] and folder.is_dir():
            return folder, name[at:].removeprefix("..")
    raise UsageError(f"There is no folder {name}.", remedy="Name a clone, and a range after two dots: REPO..v1..v2.")


async def from_history(folder: Path, settings: Settings, request: HistoryRequest) -> list[Task]:
    """Tasks of the newest commits that give one; fewer where there are no more.

    Raises `CannotVerifyError` where the repository or the interpreter cannot be used, `UsageError` without a task.
    """
    root = workspace.check_root(folder)
    repository = Repository.find(root)
    interpreter = history_tree.find_interpreter(root, settings)
    commits = git_history.read_commits(repository, request.revisions, most=request.commits)
    records = Records(request.records, interpreter)
    tried: list[Tried] = []
    tasks: list[Task] = []
    for commit in commits:
        if len(tasks) == request.count:
            break
        if request.is_excluded(task_id(root, commit.id)):
            continue
        done = records.tried.get(commit.id)
        if done is None:
            done = await try_commit(repository, commit, settings, interpreter)
            records.add(done)
            if done.task or done.reason == history_records.ENVIRONMENT:
                outcome = f"task {len(tasks) + 1}, {done.task.kind}" if done.task else f"{done.reason}: {done.detail}"
                request.report_status(f"{commit.id[:12]} {outcome}")
        tried.append(done)
        tasks += [done.task] if done.task else []
    for line in history_records.summarize(tried, len(commits) - len(tried)):
        request.report_status(line)
    if not tasks:
        raise UsageError(
            f"None of the {len(tried)} commits of {root} gives a task.",
            remedy="Name the interpreter that has the project's packages with --set interpreter=..., or read more "
            "commits with --commits N.",
        )
    return tasks


def task_id(root: Path, commit: str) -> str:
    return f"history-{root.name}-{commit[:12]}"


async def try_commit(repository: Repository, commit: Commit, settings: Settings, interpreter: str) -> Tried:
    """Runs the commit's tests over the code before and after, where its texts promise a task.

    Raises `SandboxBrokenError` where the sandbox itself breaks.
    """
    try:
        fix = _read_fix(repository, commit)
        if isinstance(fix, Tried):
            return fix
        with TemporaryDirectory(prefix="greenloop-bench-") as name:
            tree = history_tree.lay_out(repository, commit.id, Path(name))
            fitting = history_tree.show_test_data(history_tree.settings_of(settings, interpreter), tree)
            return await _test_fix(repository, fix, tree, fitting)
    except CannotVerifyError as error:
        missing = "not in this clone" in str(error)
        reason = history_records.MISSING if missing else history_records.ENVIRONMENT
        return Tried(commit=commit.id, reason=reason, detail=str(error))


def _read_fix(repository: Repository, commit: Commit) -> _Fix | Tried:
    """Reads the fix that a commit makes, as far as its texts show it; no test is run."""

    def rejected(reason: str) -> Tried:
        return Tried(commit=commit.id, reason=reason)

    patterns = file_patterns(repository.root)
    tests = tuple(change for change in commit.changes if role_by_name(change.path, patterns))
    code = [change for change in commit.changes if change.path.endswith(".py") and change not in tests]
    if not any(change.new and is_test_file(change.path, patterns) for change in tests):
        return rejected(history_records.NO_TEST)
    if not any(change.old and change.new for change in code):
        return rejected(history_records.NO_CODE)
    if len(code) > MAX_FILES or len(tests) > MAX_TEST_FILES or not all(change.old and change.new for change in code):
        return rejected(history_records.TOO_LARGE)
    blobs = git_history.blobs(repository, code)
    try:
        before = {change.path: blobs[change.old].decode() for change in code}
        after = {change.path: blobs[change.new].decode() for change in code}
        compared = [(path, history_functions.compare_functions(before[path], after[path])) for path in before]
    except ValueError:
        return rejected(history_records.UNREADABLE)
    functions = history_functions.merge(compared)
    if not functions.kind:
        return rejected(history_records.NOTHING)
    if sum(history_functions.count_changed_lines(before[path], after[path]) for path in before) > MAX_LINES:
        return rejected(history_records.TOO_LARGE)
    return _Fix(commit=commit, tests=tests, before=before, after=after, functions=functions)


@dataclass(kw_only=True)
class _Runs:
    """Runs of the changed test files over the code before and after."""

    session: Session
    fix: _Fix
    selectors: tuple[str, ...]
    seconds: float
    executions: list[Execution] = field(default_factory=list)

    @property
    def is_slow(self) -> bool:
        """Was a run ended before its end?"""
        return any(execution.killed for execution in self.executions)

    async def outcomes(self, *, after: bool, hash_seed: int = 0, only: Sequence[str] = ()) -> dict[str, str] | None:
        """Outcome by case; None where the run did not complete."""
        texts = self.fix.after if after else {}
        run = TestRun(
            selectors=fit_selectors(only) if only else self.selectors,
            files={path: text.encode() for path, text in texts.items()},
            seconds=self.seconds,
            hash_seed=hash_seed,
        )
        self.executions.append(await self.session.run(run))
        return outcomes_by_case(self.executions[-1])


async def _test_fix(repository: Repository, fix: _Fix, tree: Path, settings: Settings) -> Tried:
    """Runs the commit's tests over the code before and after, each twice."""
    patterns = file_patterns(repository.root)
    selectors = tuple(change.path for change in fix.tests if change.new and is_test_file(change.path, patterns))
    pool = SandboxPool()
    try:
        async with open_session(tree, settings, pool, variables=history_tree.variables(tree, settings)) as session:
            seconds = max(SECONDS, settings.suite.seconds)
            runs = _Runs(session=session, fix=fix, selectors=selectors, seconds=seconds)
            after = await runs.outcomes(after=True)
            if after is None or "passed" not in after.values():
                reason = history_records.SLOW if runs.is_slow else history_records.ENVIRONMENT
                return Tried(commit=fix.commit.id, reason=reason, detail=_cause(runs.executions[-1]))
            before = await runs.outcomes(after=False)
            fixed = [
                case for case, outcome in (before or {}).items() if outcome == "failed" and after.get(case) == "passed"
            ]
            if not fixed:
                reason = history_records.SLOW if runs.is_slow else _why_none(before, after, runs.executions[-1])
                return Tried(commit=fix.commit.id, reason=reason)
            again = await runs.outcomes(after=False, hash_seed=OTHER_SEED, only=fixed)
            last = await runs.outcomes(after=True, hash_seed=OTHER_SEED)
            fixed = [
                case for case in fixed if (again or {}).get(case) == "failed" and (last or {}).get(case) == "passed"
            ]
            steady = [case for case in after if after[case] == (last or {}).get(case) == "passed"]
    finally:
        await pool.close()
    if not fixed:
        return Tried(commit=fix.commit.id, reason=history_records.SLOW if runs.is_slow else history_records.UNSTEADY)
    return Tried(commit=fix.commit.id, task=_task(repository, fix, fixed, steady, before or {}))


def _why_none(before: Mapping[str, str] | None, after: Mapping[str, str], execution: Execution) -> str:
    if before is None:
        return history_records.UNSTEADY
    if collect_errors(execution):
        return history_records.IMPORTS
    failed = any(outcome == "failed" for case, outcome in before.items() if after.get(case) != "passed")
    return history_records.STAYS_RED if failed else history_records.PASSES


def _cause(execution: Execution) -> str:
    """Returns why the tests do not run even over the code after."""
    if execution.broken or execution.killed:
        return execution.broken or f"the run was ended ({execution.killed})"
    if errors := collect_errors(execution):
        return f"{errors[0].failure.type}: {errors[0].failure.message}".split("\n")[0][:200]
    return "no test passes"


def _task(
    repository: Repository, fix: _Fix, fixed: Sequence[str], steady: Sequence[str], before: Mapping[str, str]
) -> Task:
    """The task of a fix: its first fixed case is the target, all cases of that file and all fixed ones judge.

    The target is the test with all its parameters, but for one of which some case fails even with the fix.
    """
    test = fixed[0].partition("[")[0]
    shown = tuple(case for case in before if case.partition("[")[0] == test)
    if set(shown) <= {*fixed, *steady}:
        target = test
    else:
        target, shown = fixed[0], (fixed[0],)
    file = target.partition("::")[0]
    judging = list(dict.fromkeys([*fixed, *(case for case in steady if case.startswith(f"{file}::"))]))[:MAX_CASES]
    root, commit = repository.root, fix.commit.id
    changed = [path for path in fix.after if fix.after[path] != fix.before[path]]
    return Task(
        id=task_id(root, commit),
        kind=f"history, {fix.functions.kind}",
        target=target,
        files={},
        shown=tuple(case for case in shown if case in judging),
        cases=tuple(judging),
        solution={path: fix.after[path] for path in changed},
        folder=str(root),
        origin=f"{root.name} {commit[:12]}",
        function=next(iter(fix.functions.changed), ""),
        commit=commit,
        functions=fix.functions.changed,
    )
