"""Lists the failing tests of a workspace: what `greenloop fix` without a target works on.

It must not know which of them is fixed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path, PurePosixPath

from greenloop.core.errors import CannotVerifyError, UsageError
from greenloop.engine.sandbox_spec import ignore_status
from greenloop.engine.testing.run_tests import SuiteReport, files_that_lack_code, refuse_unreadable, run_tests
from greenloop.engine.timing import heartbeat
from greenloop.localize.regions import may_change
from greenloop.project.environment.declared_dependencies import is_third_party
from greenloop.project.settings import Settings
from greenloop.project.sources import file_patterns, find_imports, find_module, read_text
from greenloop.project.sources import list_test_files as find_test_files
from greenloop.project.test_naming import read_names
from greenloop.project.workspace import find_start
from greenloop_sandbox.report.cases import CollectError


async def list_failing_tests(
    root: Path, folder: Path, *, settings: Settings, report_status: Callable[[str], None] = ignore_status
) -> list[str]:
    """Runs the suite, or that of the workspace's member with this folder, in the sandbox, unchanged; returns the node
    ids that fail, in order, and last the test files that pytest cannot import because of code under test, or without
    code that is still to be written.

    Raises `CannotVerifyError` where none fails and pytest cannot import or run all tests, and `UsageError` where it
    finds no test at all.
    """
    try:
        async with heartbeat(report_status) as beating:
            member = find_start(root, PurePosixPath(folder.relative_to(root)))
            report = await run_tests(root, [member] if member else [], settings=settings, report_status=beating.report)
    except CannotVerifyError as error:
        raise _with_files_to_write(error, root) from error
    failing = [result.id for result in report.results if result.outcome in {"failed", "error"}]
    files = [*_files_behind_broken_code(report.errors, file_patterns(root)), *files_that_lack_code(report.errors, root)]
    failing += dict.fromkeys(files)
    if not failing:
        refuse_unreadable(report.errors)
        refuse_unfinished(report, max(settings.suite.seconds, settings.sandbox.seconds))
        if not report.results:
            raise _no_test(root)
    return failing


def _with_files_to_write(error: CannotVerifyError, root: Path) -> CannotVerifyError:
    """The error that ended the suite, with a further remedy where test files import what may still be written."""
    first = next((path for path in find_test_files(root) if _missing_modules(root, path)), None)
    if first is None:
        return error
    folder = first.rpartition("/")[0]
    remedy = f"To have it written for its tests: `greenloop fix {folder + '/' if folder else first}`."
    return CannotVerifyError(str(error), remedy=f"{error.remedy} {remedy}".strip())


def list_test_files(root: Path, folder: str) -> list[str]:
    """The test files below a folder; the fewer modules a file imports that do not exist yet, the earlier it comes.

    So what the others build on is written first. Nothing is run: files may import what is still to be written.
    Raises `UsageError` where there is none.
    """
    inside = "" if folder in ("", ".") else f"{folder.rstrip('/')}/"
    files = [path for path in find_test_files(root) if path.startswith(inside)]
    if not files:
        names = " and ".join(file_patterns(root))
        raise UsageError(f"{folder} has no test files.", remedy=f"pytest looks for {names}.")
    return sorted(files, key=lambda path: (len(_missing_modules(root, path)), path))


def _missing_modules(root: Path, path: str) -> set[str]:
    modules = {module for module, _names, _line in find_imports(read_text(root, path) or "", path)}
    return {
        module
        for module in modules
        if find_module(module, root, path) is None and not is_third_party(module.partition(".")[0], root)
    }


def _files_behind_broken_code(errors: Iterable[CollectError], patterns: Sequence[str]) -> list[str]:
    """The test files that cannot be imported because of code that a candidate may change."""
    innermost = ((error.id.partition("::")[0], error.failure.frames[-1:]) for error in errors)
    return list(
        dict.fromkeys(file for file, frames in innermost if any(may_change(frame.path, patterns) for frame in frames))
    )


def _no_test(root: Path) -> UsageError:
    files = " and ".join(file_patterns(root))
    functions = " and ".join(name if "*" in name else f"{name}*" for name in read_names(root).functions)
    return UsageError(
        f"pytest finds no test in {root}.",
        remedy=f"It looks for functions {functions} in files {files}. Without tests, name a function that has a "
        "docstring: `greenloop fix FILE.py::FUNCTION`.",
    )


def refuse_unfinished(report: SuiteReport, seconds: float) -> None:
    """Raises `CannotVerifyError` where not all tests ran; `seconds` is the limit that the suite had."""
    if not report.left_out:
        return
    left, count = report.left_out, len(report.results)
    passing = f"{count} {'test passes' if count == 1 else 'tests pass'}, and {len(left)} did not run"
    if report.ended:
        raise CannotVerifyError(
            f"{passing}: pytest ended before {left[0]}.", remedy=f"Name it: `greenloop fix {left[0]}`."
        )
    raise CannotVerifyError(
        f"{passing} within {seconds:g} s.",
        remedy=f"Name a test or a folder, or give the suite more time: --set suite.seconds={10 * seconds:g}.",
    )
