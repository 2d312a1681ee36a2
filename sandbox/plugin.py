"""The pytest plugin inside the worker: says on the report pipe what really happened, step by step.

All it needs is taken into closures before any file of the project is imported, so that code which patches `json`,
`os` or pytest's reports later changes nothing here.
What remains possible in one process is written in docs/security.md.
"""

import ast
import importlib.util
import json
import os
import reprlib
import sys
import time

import pytest

TEXT = 6000  # characters kept of a rendered failure
MESSAGE = 2000
REPR = 1000
FRAMES = 40
INTERNAL = ("_pytest", "pluggy")
HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep


def run(request, report, key, folder, sign, examples, tracing):
    """Runs pytest on the request's selectors and reports to the descriptor `report`. Returns pytest's exit status."""
    root = os.path.realpath(request["root"])
    send = _sender(report, key, sign)
    place = _placer(root)
    doctests = [selector[len("doctest:") :] for selector in request["selectors"] if selector.startswith("doctest:")]
    plain = [selector for selector in request["selectors"] if not selector.startswith("doctest:")]
    plugins = [_recorder(send, place), _starter(send, root, place, _reruns())]
    args = [*_arguments(root, folder), *plain]
    if request["collect"]:
        args.insert(0, "--collect-only")
    if doctests:
        plugins.append(examples.plugin(root, doctests, only=not plain))
        args.extend(examples.argument(selector) for selector in doctests)
    if request["trace"]:
        plugins.append(tracing.plugin(root, send))
    return int(pytest.main(args, plugins=plugins))


# -- how pytest is started ------------------------------------------------------------------------------------------


def _arguments(root, folder):
    """Options that keep the project's own configuration and take back what would reach outside or run elsewhere."""
    settings = _configuration(root)
    args = [
        "--rootdir=" + root,
        "--continue-on-collection-errors",
        "--color=no",
        "--tb=short",
        "--maxfail=0",
        "--basetemp=" + os.path.join(folder, "pytest"),
    ]
    if any(
        option in settings
        for option in ("--lf", "--ff", "--last-failed", "--failed-first", "--nf", "--sw", "--step", "--cache")
    ):
        # Without its plugin those options would be unknown; an empty cache makes them do nothing.
        args += ["-o", "cache_dir=" + os.path.join(folder, "cache")]
    else:
        args += ["-p", "no:cacheprovider"]
    neutral = (
        ("xdist", "no:xdist", ["-n0"]),
        ("pytest_cov", "no:pytest_cov", ["--no-cov"]),
        ("pytest_rerunfailures", "no:rerunfailures", ["--reruns=0"]),
        (
            "pytest_randomly",
            "no:randomly",
            ["-p", "no:randomly"] if "--randomly" not in settings else ["--randomly-dont-reorganize"],
        ),
        (
            "pytest_random_order",
            "no:random_order",
            ["--random-order-bucket=none"] if "--random-order" in settings else [],
        ),
        ("pytest_benchmark", "no:benchmark", ["--benchmark-disable"]),
        ("pytest_html", "no:html", ["--html=" + os.path.join(folder, "report.html")] if "--html" in settings else []),
    )
    for module, off, options in neutral:
        if options and off not in settings and importlib.util.find_spec(module) is not None:
            args += options
    if "junit" in settings:
        args.append("--junitxml=" + os.path.join(folder, "junit.xml"))
    if "log_file" in settings or "--log-file" in settings:
        args.append("--log-file=" + os.devnull)
    return args


def _configuration(root):
    """The text of whatever may configure pytest here: good enough to see whether an option is mentioned."""
    texts = []
    for name in ("pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "pyproject.toml", "tox.ini", "setup.cfg"):
        try:
            with open(os.path.join(root, name), encoding="utf-8", errors="replace") as stream:
                texts.append(stream.read(1 << 20))
        except OSError:
            continue
    return "\n".join(texts)


def _reruns():
    return any(importlib.util.find_spec(name) is not None for name in ("pytest_rerunfailures", "flaky"))


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


def _starter(send, root, place, reruns):
    class Starter:
        @pytest.hookimpl(tryfirst=True)
        def pytest_sessionstart(self):
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
            error = outcome.excinfo[1]
            # pytest prints a broken conftest and ends without a session: nobody would be told.
            info = getattr(error, "excinfo", None)
            cause = getattr(error, "cause", None) or (
                info[1] if isinstance(info, tuple) else getattr(info, "value", None)
            )
            cause = cause or error.__cause__ or error
            send(
                {
                    "kind": "collect_error",
                    "id": place(str(getattr(error, "path", "conftest.py"))),
                    **_error(cause, place),
                    "text": _cut(str(error), TEXT),
                }
            )

    return Starter()


def _recorder(send, place):
    """The plugin proper. `compared` holds the two sides of the newest comparison that failed."""
    compared = {}
    clock = time.perf_counter
    describe, cut = _describer(place), _cut

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
                        **_error(cause, place),
                        "text": cut(str(report.longrepr), TEXT),
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
                compared.update(left=_repr(left), right=_repr(right))

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
                    text = cut(str(report.longrepr), TEXT)
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
            send({"kind": "finished", "status": int(session.exitstatus)})

    def clock_difference(call):
        try:
            return float(call.duration)
        except AttributeError:
            return float(clock() - call.start)

    return Recorder()


# -- why something failed -------------------------------------------------------------------------------------------


def _describer(place):
    """`describe(error, traceback, compared, item)`: message, frames, expected and observed of a failed call."""
    walk, frames_of = _walk, _frames

    def describe(error, traceback, compared, item):
        told = getattr(item, "greenloop_failure", None)
        if told is not None:  # a doctest example knows better than its traceback
            return {
                "type": type(error).__name__,
                "message": _message(error),
                **told(error, traceback, place, frames_of),
            }
        expected = observed = None
        if compared and isinstance(error, AssertionError):
            observed, expected = compared["left"], compared["right"]
            if _yoda(traceback):
                observed, expected = expected, observed
        else:
            found = _unittest_sides(walk(traceback))
            if found is not None:
                observed, expected = found
        return {
            "type": type(error).__name__,
            "message": _message(error),
            "frames": frames_of(error, traceback, place),
            "expected": expected,
            "observed": observed,
        }

    return describe


def _error(error, place):
    """The parts of a collect_error that come from its exception."""
    if error is None:
        return {"type": None, "message": "", "name": None, "local": False, "frames": []}
    name = getattr(error, "name", None) if isinstance(error, ImportError) else None
    return {
        "type": type(error).__name__,
        "message": _message(error),
        "name": name if isinstance(name, str) else None,
        "local": isinstance(name, str) and _local(name.partition(".")[0], place),
        "frames": _frames(error, error.__traceback__, place),
    }


def _local(name, place):
    """Whether the workspace has a module or package of that name on the import path."""
    for entry in sys.path:
        if os.path.isabs(place(entry)) and place(entry) != place.root:
            continue
        if any(os.path.exists(os.path.join(entry, name + end)) for end in ("", ".py")):
            return True
    return False


def _message(error):
    if isinstance(error, SyntaxError) and error.msg:
        return _cut(str(error.msg), MESSAGE)
    try:
        return _cut(str(error), MESSAGE)
    except Exception as problem:  # str() of a candidate's exception class may raise anything
        return "<message raised %s>" % type(problem).__name__


def _walk(traceback):
    steps = []
    while traceback is not None:
        steps.append((traceback.tb_frame, traceback.tb_lineno))
        traceback = traceback.tb_next
    return steps


def _frames(error, traceback, place):
    """[path, line, function] from the test inwards; the machinery's own frames are left out."""
    frames = []
    for frame, line in _walk(traceback):
        code = frame.f_code
        if _internal(code.co_filename):
            continue
        path = place(code.co_filename)
        frames.append([path, line or code.co_firstlineno, getattr(code, "co_qualname", code.co_name)])
    inside = [number for number, frame in enumerate(frames) if not os.path.isabs(frame[0])]
    if inside:
        del frames[: inside[0]]  # plugins that stand between pytest and the test
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        frames.append([place(str(error.filename)), int(error.lineno), ""])
    if len(frames) > FRAMES:  # endless recursion: its ends say it all
        frames = frames[: FRAMES // 2] + frames[-FRAMES // 2 :]
    return frames


def _internal(path):
    if path.startswith("<frozen importlib"):
        return True
    parts = path.replace(os.sep, "/").split("/")
    return any(name in parts for name in INTERNAL) or "importlib" in parts[-2:] or path.startswith(HERE)


def _yoda(traceback):
    """Whether the failing assert has its expected value on the left: a literal there and none on the right."""
    steps = [step for step in _walk(traceback) if not _internal(step[0].f_code.co_filename)]
    if not steps:
        return False
    frame, line = steps[-1]
    try:
        with open(frame.f_code.co_filename, "rb") as stream:
            tree = ast.parse(stream.read())
    except (OSError, ValueError, SyntaxError):
        return False
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert) and node.lineno <= line <= (node.end_lineno or node.lineno):
            test = node.test
            return isinstance(test, ast.Compare) and _expectation(test.left) and not _expectation(test.comparators[0])
    return False


def _expectation(node):
    if isinstance(node, ast.Name):
        return node.id.startswith(("expect", "want"))
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return True


def _unittest_sides(steps):
    """(observed, expected) of a failed `assertEqual(first, second)`."""
    for frame, _line in steps:
        code = frame.f_code
        if code.co_name in (
            "assertEqual",
            "assertIs",
            "assertAlmostEqual",
            "assertListEqual",
            "assertDictEqual",
        ) and code.co_filename.endswith("case.py"):
            names = frame.f_locals
            for first, second in (("first", "second"), ("expr1", "expr2"), ("list1", "list2"), ("d1", "d2")):
                if first in names and second in names:
                    return _repr(names[first]), _repr(names[second])
    return None


_short = reprlib.Repr()
_short.maxlist = _short.maxtuple = _short.maxdict = _short.maxset = _short.maxfrozenset = _short.maxdeque = 40
_short.maxstring = _short.maxother = _short.maxlong = REPR
_short.maxlevel = 8


def _repr(value):
    try:
        return _cut(_short.repr(value), REPR)
    except Exception as error:  # repr() of a candidate's class may raise anything
        return "<repr raised %s>" % type(error).__name__


def _cut(text, most):
    if len(text) <= most:
        return text
    return text[: most // 3] + "\n[...]\n" + text[-(most - most // 3) :]
