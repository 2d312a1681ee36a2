"""The pytest plugin inside the worker: says on the report pipe what really happened, step by step.

All it needs is taken into closures before any file of the project is imported, so that code which patches `json`,
`os` or pytest's reports later changes nothing here.
What remains possible in one process is written in docs/security.md.
"""

import gc
import json
import os
import sys
import time

import pytest


def run(request, report, key, folder, sign, parts, session=None, oracle=None):
    """Runs pytest on the request's selectors and reports to the descriptor `report`. Returns pytest's exit status.

    `parts` has the neighbours of this file by name; `session` is a pytest that has configured itself before the fork;
    `oracle` a process for the request's modules, where there is one.
    """
    before = frozenset(sys.modules)
    root = os.path.realpath(request["root"])
    send = _sender(report, key, sign)
    place = _placer(root)
    doctests = [selector[len("doctest:") :] for selector in request["selectors"] if selector.startswith("doctest:")]
    plain = [selector for selector in request["selectors"] if not selector.startswith("doctest:")]
    starter = _starter(send, root, place, parts["failures"], parts["options"].reruns())
    loaded = parts["warmth"].loaded if request["baseline"] else None
    plugins = [_recorder(send, place, parts["failures"], loaded and (lambda: loaded(before))), starter]
    if doctests:
        plugins.append(parts["examples"].plugin(root, doctests, only=not plain))
        plain = [*plain, *(parts["examples"].argument(selector) for selector in doctests)]
    if request["trace"]:
        plugins.append(parts["tracing"].plugin(root, send))
    if request["watch"]:
        plugins.append(parts["watching"].plugin(root, request["watch"], send, parts["showing"]))
    if oracle is not None:
        oracle.stand_in()
        plugins.append(oracle.plugin(send))
    if session is not None:
        return session.run(plain, plugins, starter)
    options = parts["options"].arguments(root, folder)
    return int(pytest.main([*(["--collect-only"] if request["collect"] else []), *options, *plain], plugins=plugins))


# -- the report -----------------------------------------------------------------------------------------------------


def _sender(report, key, sign):
    """`send(record)`: numbers, signs and writes one record. Uses nothing that can be patched from outside."""
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
            pass  # the supervisor has stopped listening: it is about to kill this process

    return send


def _placer(root):
    """`place(path)`: relative to the root where it lies in it, else absolute; and whether it is the test machinery."""
    prefix = root + os.sep
    join, normal, separator = os.path.join, os.path.normpath, os.sep

    def place(path):
        path = normal(join(root, path)) if not path.startswith("<") else path
        return path[len(prefix) :].replace(separator, "/") if path.startswith(prefix) else path

    place.root = root
    return place


def _starter(send, root, place, failures, reruns):
    class Starter:
        @pytest.hookimpl(tryfirst=True)
        def pytest_sessionstart(self):
            gc.enable()  # it was off since the supervisor began to import
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
            self.tell(outcome.excinfo[1])

        def tell(self, error):
            """Pytest prints a broken conftest and ends without a session: nobody would be told."""
            info = getattr(error, "excinfo", None)
            cause = getattr(error, "cause", None) or (
                info[1] if isinstance(info, tuple) else getattr(info, "value", None)
            )
            cause = cause or error.__cause__ or error
            send(
                {
                    "kind": "collect_error",
                    "id": place(str(getattr(error, "path", "conftest.py"))),
                    **failures.fields(cause, place),
                    "text": failures.cut(str(error), failures.TEXT),
                }
            )

    return Starter()


def _recorder(send, place, failures, census):
    """The plugin proper. `compared` holds the two sides of the newest comparison that failed.

    `census()`, where it is given, tells which installed packages the run has imported, reports and all.
    """
    compared = {}
    clock = time.perf_counter
    describe, cut, short, most = failures.describer(place), failures.cut, failures.short, failures.TEXT

    class Recorder:
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
                        **failures.fields(cause, place),
                        "text": cut(str(report.longrepr), most),
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
                path, line = item.location[0], item.location[1]
                cases.append({"id": item.nodeid, "path": place(path), "line": (line or 0) + 1})
            send({"kind": "collected", "cases": cases, "deselected": getattr(self, "deselected", [])})

        @pytest.hookimpl(tryfirst=True)
        def pytest_runtest_logstart(self, nodeid):
            send({"kind": "begin", "id": nodeid})

        @pytest.hookimpl(tryfirst=True)
        def pytest_assertrepr_compare(self, op, left, right):
            compared.clear()
            if op in ("==", "is"):
                compared.update(left=short(left), right=short(right))

        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_runtest_makereport(self, item, call):
            info = call.excinfo  # of the call itself: the report may have been patched
            record = {"kind": "phase", "id": item.nodeid, "when": call.when, "seconds": clock_difference(call)}
            outcome = yield
            info = info or call.excinfo  # pytest puts the exception of a unittest case there while it makes the report
            record["type"] = None if info is None else info.type.__name__
            text, result, wasxfail = "", "broken", None
            try:
                report = outcome.get_result()
                result, wasxfail = str(report.outcome), getattr(report, "wasxfail", None)
                if info is not None and result != "passed":
                    text = cut(str(report.longrepr), most)
            except Exception as error:  # a foreign plugin broke the report; the record still has to go out
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
            if census is not None:
                send({"kind": "modules", "names": census()})
            send({"kind": "finished", "status": int(session.exitstatus)})

    def clock_difference(call):
        try:
            return float(call.duration)
        except AttributeError:
            return float(clock() - call.start)

    return Recorder()
