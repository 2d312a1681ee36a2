"""Test runs at the user's request: what a command asks for, and the summary that the user gets."""

from __future__ import annotations

import asyncio
import functools
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcInvalidParams

from greenloop import api
from greenloop.core.errors import GreenloopError
from greenloop.core.records.spec import TargetKind
from greenloop.core.text.redact import clean_for_display
from greenloop.lsp.connection.messages import command_argument, position_of
from greenloop.lsp.documents import locations
from greenloop.lsp.documents.locations import ProjectFile
from greenloop.lsp.editor import Editor
from greenloop.plugins.test_runs.requests import TestRequest, TestSummary
from greenloop.plugins.test_runs.scheduler import TestScheduler


class TestCommands:
    """Starts requested tests, waits for them, and shows their results."""

    __test__ = False  # for pytest, which collects classes by name

    def __init__(self, editor: Editor, scheduler: TestScheduler) -> None:
        self._client, self._documents, self._settings = editor.client, editor.documents, editor.settings
        self._scheduler = scheduler

    def start(self, arguments: tuple[Any, ...]) -> TestRequest:
        """Starts a command's tests: those of a file, one test or class, those that reach a function, or a selection.

        Raises `JsonRpcInvalidParams` where there is nothing to test.
        """
        argument = command_argument(arguments)
        fields = argument if isinstance(argument, Mapping) else {}
        target, tests = fields.get("target"), fields.get("tests", [])
        is_selection = isinstance(tests, list) and all(isinstance(each, str) for each in tests)
        if not (is_selection and isinstance(fields.get("uri"), str) and isinstance(target, str | None)):
            raise JsonRpcInvalidParams('Expected one object: {"uri"}, {"uri", "target"} or {"uri", "position"}.')
        line = position_of(argument)
        try:
            file = locations.locate(self._documents, argument["uri"])
            if file is None or not locations.is_testable(file):
                raise JsonRpcInvalidParams("Only tests in Python files can be run.")
            request = self._request(file, target if line is None else _selector_at(file, line), tests)
        except GreenloopError as error:
            raise JsonRpcInvalidParams(clean_for_display(error.advice)) from error
        self._scheduler.request(request)
        return request

    async def wait(self, request: TestRequest) -> TestSummary | None:
        """The summary; None where the job was cancelled, or could not run, which is reported to the user."""
        await asyncio.wait([request.summary_future])
        if request.summary_future.cancelled():
            return None
        error = request.summary_future.exception()
        if isinstance(error, GreenloopError):
            uri = self._documents.uri_of(request.root / request.path)
            self._client.report_error(error, uri=uri, target=request.target)
            return None
        return request.summary_future.result()

    def show(self, request: TestRequest, summary: TestSummary) -> None:
        """Shows the user a short summary."""
        text = describe(request, summary)
        text = request.prepared.label(text) if request.prepared is not None else text
        faults = (summary.broken, summary.out_of_time, summary.interrupted, summary.failing)
        is_good = summary.results and not any(faults)
        self._client.show_message(text, lsp.MessageType.Info if is_good else lsp.MessageType.Warning)

    def _request(self, file: ProjectFile, selector: str | None, tests: Sequence[str]) -> TestRequest:
        settings = self._settings.load(file.root)
        request = functools.partial(TestRequest, root=file.root, settings=settings, target=selector or "")
        if tests:
            name = tests[0] if len(tests) == 1 else f"{len(tests)} tests"
            return request(name=name, path="", selectors=tuple(tests), is_shown=True)
        target = locations.find_target(self._documents, file.root, selector) if selector is not None else None
        if selector is not None and target is None:
            raise JsonRpcInvalidParams(f"There is no test or function named {selector}.")
        if file.composite is not None:
            prepared, selectors = file.composite.prepare_tests(target)
            name = prepared.label(target.qualname) if target else file.composite.path.rpartition("/")[2]
            return request(name=name, path=file.path, selectors=selectors, prepared=prepared)
        if target is None:
            selectors = (file.path,) if locations.has_tests(file) else ()
            return request(name=file.path.rpartition("/")[2], path=file.path, selectors=selectors)
        name = target.qualname.rpartition(".")[2]
        if target.kind is TargetKind.TEST:
            return request(name=name, path=target.path, selectors=(target.selector,))
        examples = api.targets.example_selectors(target, self._documents.text(file.root / target.path) or "")
        return request(name=name, path=target.path, function=target.qualname, examples=examples)


def _selector_at(file: ProjectFile, line: int) -> str:
    """The selector of the test, class or function at a line (0-based)."""
    target = locations.target_at(file, file.line(line))
    if target is None:
        raise JsonRpcInvalidParams("There is no test or function here.")
    return target.selector


def describe(request: TestRequest, summary: TestSummary) -> str:
    """`3 passed, 1 failed in 0.2 s`, or that there are no tests."""
    if not (summary.results or summary.broken or summary.out_of_time or summary.interrupted):
        return f"{'There are no tests in' if request.selectors else 'No known test covers'} {request.name}."
    counts = Counter(result.outcome for result in summary.results)
    labels = {"error": "with errors", "xfailed": "expected to fail", "xpassed": "passed unexpectedly"}
    order = ("passed", "failed", "error", "skipped", "xfailed", "xpassed")
    parts = [f"{counts[outcome]} {labels.get(outcome, outcome)}" for outcome in order if counts[outcome]]
    if summary.out_of_time:
        parts.append(f"{summary.out_of_time} not run (time limit)")
    if summary.interrupted:
        parts.append(f"{summary.interrupted} not run (pytest ended early)")
    text = f"{', '.join(parts) or 'no tests ran'} in {summary.seconds:.1f} s"
    return "; ".join([text, *(f"{file} cannot be collected" for file in summary.broken)])
