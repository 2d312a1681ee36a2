"""Pytest plugin inside the worker: reports on a pipe what really happened, step by step.

It takes everything it needs into closures before any file of the project is imported, so that code which later patches
`json`, `os` or pytest's reports changes nothing here.
docs/security.md describes what remains possible within one process.
"""

import gc
import json
import os
import sys
import time

import pytest


def run_pytest(request, report, key, scratch, sign, siblings, session=None, marks=None):
    """Runs pytest on the request's selectors and reports to the descriptor `report`. Returns pytest's exit status.

    `siblings` holds the other files of this folder by name; `session` is a pytest session that was configured before
    the fork, `marks` the socket of a measured run; either may be None.
    """
    modules_before = frozenset(sys.modules)
    root = os.path.realpath(request["root"])
    send = _make_sender(report, key, sign)
    relative_path = _make_relative_path(root)
    doctests = [selector[len("doctest:") :] for selector in request["selectors"] if selector.startswith("doctest:")]
    node_ids = [selector for selector in request["selectors"] if not selector.startswith("doctest:")]
    failures, can_rerun = siblings["failures"], siblings["options"].can_rerun()
    session_reporter = _make_session_reporter(send, root, relative_path, failures, can_rerun)
    loaded_packages = siblings["preimport"].loaded_packages if request["baseline"] else None
    plugins = [
        _make_collection_recorder(send, relative_path, failures),
        _make_run_recorder(
            send, relative_path, failures, loaded_packages and (lambda: loaded_packages(modules_before))
        ),
        session_reporter,
    ]
    if doctests:
        plugins.append(siblings["doctest_cases"].plugin(root, doctests, exclusive=not node_ids))
        arguments = {"doctest:" + each: siblings["doctest_cases"].pytest_argument(each) for each in doctests}
        node_ids = [arguments.get(selector, selector) for selector in request["selectors"]]
    if not siblings["options"].configures_pytest(os.path.join(root, request["start"])):
        plugins.append(siblings["load_tests"].LoadTests())
    if request["only"]:
        plugins.append(_selection(request["only"]))
    if request["trace"]:
        tracer = siblings["function_tracer"]
        plugins.append(tracer.plugin(root, send, siblings["failure_display"], siblings["trace_gaps"]))
        plugins.append(siblings["opened_files"].plugin(root, send, tracer.EXCLUDED_FOLDERS))
    traced = siblings["traced_cases"] if request["watch"] or request["statements"] or request["profile"] else None
    if request["watch"]:
        make_lines = siblings["line_tracer"].with_values(siblings["safe_repr"])
        plugins.append(traced.plugin(root, request["watch"], "watch", send, make_lines))
    if request["statements"]:
        plugins.append(traced.plugin(root, request["statements"], "statements", send, traced.Statements))
    if request["inspect"] is not None:
        plugins.append(
            siblings["failure_inspection"].plugin(
                request["inspect"], send, relative_path, failures, siblings["safe_repr"]
            )
        )
    if request["profile"] is not None:
        files, by_file = traced.spans_by_file(root, request["profile"]["lines"])
        plugins.append(siblings["line_profiler"].plugin(files, by_file, request["profile"]["memory"], send))
    if request["apart"] is not None:
        plugins.append(_put_apart(request["apart"], root, scratch, send, siblings))
    # With the code apart, after its stubs: applications import the changed modules.
    if settings := siblings["options"].django_settings(os.path.join(root, request["start"])):
        plugins.append(siblings["django_tests"].DjangoTests(settings))
    if marks is not None:
        plugins.append(siblings["call_costs"].plugin(marks, request["passes"], request["profile"] is not None))
    if request["start"]:
        node_ids = [os.path.join(root, each) for each in node_ids]
    if session is not None:
        return session.run(node_ids, plugins, session_reporter)
    options = siblings["options"].pytest_arguments(root, scratch, request["start"])
    if request["inspect"] is not None:
        options.append("-vv")  # pytest cuts no difference of two values then
    return int(pytest.main([*(["--collect-only"] if request["collect"] else []), *options, *node_ids], plugins=plugins))


def _put_apart(request, root, scratch, send, siblings):
    """Makes the plugin of a run whose changed code is in another process."""
    stubs, complete = siblings["apart_stubs"], siblings["apart_changes"].complete
    folder = os.path.dirname(os.path.abspath(__file__))
    return stubs.start(request, stubs.CODES, root, scratch, folder, complete, send)


# -- the report -----------------------------------------------------------------------------------------------------


def _make_sender(report, key, sign):
    """Makes `send(record)`: numbers, signs and writes one record. Uses nothing that can be patched from outside."""
    write, error = os.write, OSError
    quote = json.encoder.encode_basestring_ascii
    text_of, kind_of, is_str, is_float, is_dict = str, type, str, float, dict
    integers, lists, infinite = (int,), (list, tuple), float("inf")
    state = {"seq": 0}

    def encode(value):
        kind = kind_of(value)
        if value is None:
            return "null"
        if value is True:
            return "true"
        if value is False:
            return "false"
        if kind is is_str:
            return quote(value)
        if kind in integers:
            return text_of(value)
        if kind is is_float:
            return text_of(value) if -infinite < value < infinite else "null"
        if kind in lists:
            return "[" + ", ".join([encode(item) for item in value]) + "]"
        if kind is is_dict:
            return "{" + ", ".join([quote(name) + ": " + encode(item) for name, item in value.items()]) + "}"
        return quote(text_of(value))

    def send(record):
        record["seq"] = state["seq"]
        state["seq"] += 1
        body = encode(record).encode()
        data = sign(body, key) + b" " + body + b"\n"
        try:
            while data:
                data = data[write(report, data) :]
        except error:
            pass  # the supervisor has stopped reading: it is about to kill this process

    return send


def _make_relative_path(root):
    """Makes `relative_path(path)`: relative to the root for a path inside it, else absolute. Its `root` is the root."""
    prefix = root + os.sep
    join, normal, separator = os.path.join, os.path.normpath, os.sep

    def relative_path(path):
        path = normal(join(root, path)) if not path.startswith("<") else path
        return path[len(prefix) :].replace(separator, "/") if path.startswith(prefix) else path

    relative_path.root = root
    return relative_path


def _make_session_reporter(send, root, relative_path, failures, reruns):
    class SessionReporter:
        @pytest.hookimpl(tryfirst=True)
        def pytest_sessionstart(self, session):
            gc.enable()  # it was off since the supervisor began to import
            _buffer_output(session.config.pluginmanager.getplugin("capturemanager"))
            send(
                {
                    "kind": "start",
                    "pytest": pytest.__version__,
                    "python": list(sys.version_info[:3]),
                    "root": root,
                    "reruns": reruns,
                }
            )

        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_load_initial_conftests(self):
            outcome = yield
            if outcome.excinfo is None:
                return
            self.report_conftest_error(outcome.excinfo[1])

        def report_conftest_error(self, error):
            """Reports a broken conftest: pytest only prints it and ends without a session."""
            info = getattr(error, "excinfo", None)
            cause = getattr(error, "cause", None) or (
                info[1] if isinstance(info, tuple) else getattr(info, "value", None)
            )
            cause = cause or error.__cause__ or error
            send(
                {
                    "kind": "collect_error",
                    "id": relative_path(str(getattr(error, "path", "conftest.py"))),
                    **failures.collect_error_fields(cause, relative_path),
                    "text": failures.truncate(str(error), failures.TEXT_LENGTH),
                }
            )

    return SessionReporter()


def _buffer_output(manager):
    """Keeps pytest from writing each word that a test prints to the disk: a million of them would take ten seconds."""
    capturing = getattr(manager, "_global_capturing", None)
    for capture in filter(None, (getattr(capturing, "out", None), getattr(capturing, "err", None))):
        capture.tmpfile.reconfigure(write_through=False)
        capture.snap = lambda flush=capture.tmpfile.flush, snap=capture.snap: flush() or snap()


def _selection(ids):
    """Makes the plugin that keeps the cases with these ids, and all of files named by themselves, in this order."""
    position = {case: number for number, case in enumerate(ids)}

    def place(item):
        return position.get(item.nodeid, position.get(item.nodeid.partition("::")[0]))

    class Selection:
        @pytest.hookimpl(trylast=True)
        def pytest_collection_modifyitems(self, config, items):
            left_out = [item for item in items if place(item) is None]
            items[:] = sorted((item for item in items if place(item) is not None), key=place)
            if left_out:
                config.hook.pytest_deselected(items=left_out)

    return Selection()


def _make_collection_recorder(send, relative_path, failures):
    """Makes the plugin that records what pytest collects, and what it cannot collect."""
    truncate, text_length = failures.truncate, failures.TEXT_LENGTH

    class CollectionRecorder:
        def pytest_ignore_collect(self, collection_path):
            """Ignores a link that leads back to a folder around it: each test is there once."""
            around = os.path.realpath(os.path.dirname(collection_path)) + os.sep
            is_link = os.path.islink(collection_path)
            return (is_link and around.startswith(os.path.realpath(collection_path) + os.sep)) or None

        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_make_collect_report(self, collector):
            outcome = yield
            report = outcome.get_result()
            if report.outcome == "failed":
                info = getattr(getattr(report, "call", None), "excinfo", None)
                error = info.value if info is not None else None
                cause = error.__cause__ if error is not None and error.__cause__ is not None else error
                send(
                    {
                        "kind": "collect_error",
                        "id": collector.nodeid,
                        **failures.collect_error_fields(cause, relative_path),
                        "text": truncate(str(report.longrepr), text_length),
                    }
                )

        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_collection_modifyitems(self, items):
            before = [item.nodeid for item in items]
            yield
            after = {item.nodeid for item in items}
            self.deselected = [name for name in before if name not in after]

        @pytest.hookimpl(tryfirst=True)
        def pytest_collection_finish(self, session):
            cases = []
            for item in session.items:
                path, line = relative_path(item.location[0]), item.location[1]
                if os.path.isabs(path):  # a plugin made it: pytest-bdd's scenarios
                    path, line = relative_path(str(item.path)), 0
                cases.append({"id": item.nodeid, "path": path, "line": (line or 0) + 1})
            send({"kind": "collected", "cases": cases, "deselected": getattr(self, "deselected", [])})

    return CollectionRecorder()


def _make_run_recorder(send, relative_path, failures, list_packages):
    """Makes the plugin that records each case and the end. `compared`: both sides of the latest failed comparison.

    `list_packages()`, where given, lists the installed packages that the whole run has imported, reports included.
    """
    compared = {}
    clock = time.perf_counter
    describe, text_length = failures.make_describer(relative_path), failures.TEXT_LENGTH
    truncate, short_repr = failures.truncate, failures.short_repr

    class RunRecorder:
        @pytest.hookimpl(tryfirst=True)
        def pytest_runtest_logstart(self, nodeid):
            send({"kind": "begin", "id": nodeid})

        @pytest.hookimpl(tryfirst=True)
        def pytest_assertrepr_compare(self, op, left, right):
            compared.clear()
            if op in ("==", "is"):
                compared.update(left=short_repr(left), right=short_repr(right))

        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_runtest_makereport(self, item, call):
            info = call.excinfo  # from the call itself: the report may have been patched
            record = {"kind": "phase", "id": item.nodeid, "when": call.when, "seconds": call_seconds(call)}
            outcome = yield
            info = info or call.excinfo  # pytest sets a unittest case's exception only while it makes the report
            record["type"] = None if info is None else info.type.__name__
            text, result, wasxfail = "", "broken", None
            try:
                report = outcome.get_result()
                result, wasxfail = str(report.outcome), getattr(report, "wasxfail", None)
                if info is not None and result != "passed":
                    text = truncate(str(report.longrepr), text_length)
            except Exception as error:  # another plugin broke the report; the record must still be sent
                text = repr(error)
            record["outcome"], record["wasxfail"] = result, None if wasxfail is None else str(wasxfail)
            if info is not None:
                record.update(describe(info.value, info.tb, compared, item))
                record["text"] = text
            compared.clear()
            send(record)

        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_sessionfinish(self, session):
            yield
            if list_packages is not None:
                send({"kind": "modules", "names": list_packages()})
            send({"kind": "finished", "status": int(session.exitstatus)})

    def call_seconds(call):
        try:
            return float(call.duration)
        except AttributeError:
            return float(clock() - call.start)

    return RunRecorder()
