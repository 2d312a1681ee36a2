"""Reversal: does a case pass because of the candidate's code, or because of something that this code left behind?

First every case runs as usual. Then, in the same process, the user's own code objects are put back into the changed
functions, and the cases that failed at the start run again: they must fail again. For the other cases, and where there
is no code to put back, the changed functions give results that are slightly wrong, and the cases must fail too.
What still passes passes for another reason: a patched comparison, a cache, a test that looks at nothing.

A test's own assertions are not read, so loops, helpers, base classes, doctests and scorers are all the same here.
`returned_values.py` and `integrity.py` say what else must hold for the result to count.
"""

import cmath
import inspect
import os
import sys
import threading
import types

import pytest
from _pytest import doctest
from _pytest.runner import runtestprotocol

OWN, WRONG, NOTHING = "own", "wrong", "nothing"


def make(request, root, send, siblings):
    """Makes (plugin, `send` for the recorder). `request` is that of `protocol.run_request`."""
    reversal = Reversal(request, root, send, siblings)
    return reversal, reversal.send_or_keep


class Reversal:
    """The plugin. Its records: `values` after each case's call, `reversed` after each case's second run."""

    def __init__(self, request, root, send, siblings):
        self._send, self._failing, self._siblings = send, frozenset(request["failing"]), siblings
        self._phases = self._record = self._assertions = None
        self._root, self._lines, self._strict = root, request["assertions"], request["strict"]
        self._files = _full_paths(root, request["files"])
        self._own = OwnText(self._files, _full_paths(root, request["asked"]), siblings["code_objects"])
        self._test_paths = {os.path.join(root, *path.split("/")) for path in self._lines}
        self._altered, self._replaced = list, list  # until the tests' files are imported
        self._caches = ()

    def send_or_keep(self, record):
        """Sends the recorder's records of the usual run, and keeps those of a second run."""
        if self._phases is None:
            self._send(record)
        else:
            self._phases.append(record)

    @pytest.hookimpl(tryfirst=True)
    def pytest_load_initial_conftests(self):
        self._siblings["integrity"].import_what_tests_use(self._test_paths)
        self._altered = self._siblings["integrity"].make_watch()
        self._watch = self._siblings["returned_values"].Watch(self._own.is_new, self._names_of_altered)
        test_names = frozenset(map(os.path.basename, self._test_paths - set(self._files)))
        hook, self._reached = self._siblings["reach_watch"].make(
            self._root, test_names, self._own.is_new, self._own.names
        )
        self._busy, self._ident = hook.busy, threading.get_ident
        sys.addaudithook(hook)

    def _names_of_altered(self):
        self._busy.add(self._ident())
        try:
            return [*self._altered(), *self._replaced()]
        finally:
            self._busy.discard(self._ident())

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_collection(self):
        profiling = self._watch.profile(lasting=True)
        next(profiling)
        yield
        next(profiling, None)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_setup(self):
        if self._phases is not None:
            yield
            return
        if self._assertions is None:  # all files were imported when the tests were collected
            integrity = self._siblings["integrity"]
            paths = {path for path in self._test_paths if path not in self._files}
            self._altered.add(integrity.referenced_modules(paths, self._root))
            self._replaced = self._siblings["bystanders"].make(paths, self._siblings["code_objects"])
            self._assertions = self._siblings["assertion_watch"].AssertionWatch(
                self._root, self._lines, self._strict, self._watch.look
            )
            caches = self._siblings["code_objects"].find_caches()
            self._caches = [cache for cache in caches if self._own.is_new(_code_below(cache))]
        for cache in self._caches:  # what a cache holds was returned when nobody looked
            cache.cache_clear()
        self._watch.start()
        profiling = self._watch.profile(lasting=True)
        next(profiling)
        yield
        next(profiling, None)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item):
        if self._phases is not None:
            yield
            return
        altered, checker = [], None
        if isinstance(item, doctest.DoctestItem):
            checker = self._siblings["doctest_watch"].Checker(item, lambda: altered.extend(self._names_of_altered()))
        self._watch.start()
        self._assertions.start()
        profiling, tracing = self._watch.profile(), self._assertions.trace()
        next(profiling)
        next(tracing)
        outcome = yield
        for watching in (tracing, profiling):
            next(watching, None)
        if checker is not None:
            checker.finish(outcome.excinfo is None)
            altered += checker.found
        unfit = self._watch.unfit or ("" if self._watch.intact else "something else took the place of the profiler")
        self._record = {
            "kind": "values",
            "id": item.nodeid,
            "results": self._watch.results,
            "unfit": unfit,
            "reached": list(self._reached),
            "altered": altered,
            "altered_by_call": self._names_of_altered(),
            "traced": self._assertions.complete,
            "ran": sorted(map(list, self._assertions.ran)),
            "swallowed": self._assertions.swallowed,
        }

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self):
        yield
        record, self._record = self._record, None
        if record is not None:
            # What a fixture replaced for the test alone is restored by now.
            lasting = set(self._names_of_altered()) & set(record.pop("altered_by_call"))
            self._send({**record, "altered": sorted({*record["altered"], *lasting})})

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtestloop(self, session):
        self._restore_tables = self._siblings["shared_tables"].make_restore(session.items)
        yield
        if self._assertions is None or session.shouldstop or session.config.option.collectonly:
            return
        self._functions = [File(path, text, self._siblings["code_objects"]) for path, text in self._files.items()]
        failing = [item for item in session.items if item.nodeid in self._failing]
        others = [item for item in session.items if item.nodeid not in self._failing]
        if not any(file.has_own_code for file in self._functions):  # the functions are new
            failing, others = [], session.items
            for file in self._functions:
                file.replaces_new = True
        self._run_again(OWN, failing)
        self._run_again(NOTHING, self._run_again(WRONG, others))

    def _run_again(self, mode, items):
        """Runs the items over other code; returns those that pass."""
        if not items:
            return []
        passing = []
        unfit = next(filter(None, [file.put(mode) for file in self._functions]), "")
        try:
            self._siblings["code_objects"].clear_caches()
            for item, following in zip(items, [*items[1:], None]):  # noqa: B905 - Python 3.9
                self._phases = []
                self._restore_tables()
                if not unfit:
                    runtestprotocol(item, log=False, nextitem=following)
                phases, self._phases = self._phases, None
                failed = [phase for phase in phases if phase.get("outcome") == "failed"]
                outcome = "failed" if failed else "passed" if len(phases) >= 3 else "missing"
                record = {"kind": "reversed", "id": item.nodeid, "mode": mode, "outcome": outcome, "unfit": unfit}
                self._send({**record, "type": failed[0].get("type") if failed else None})
                if outcome == "passed":
                    passing.append(item)
        finally:
            self._phases = None
            for file in self._functions:
                file.restore()
        return passing


class OwnText:
    """What the user's own texts of the changed files have: code, and names that it uses."""

    def __init__(self, texts, asked, code_objects):
        self._same, self._known = code_objects.same_code, {}
        self._asked = {path: {name.rpartition(".")[2] for name in names} for path, names in asked.items()}
        self._codes, self.names = {}, set()
        for path, text in texts.items():
            by_name = self._codes.setdefault(path, {})
            try:
                codes = code_objects.all_codes(text, path)
            except (SyntaxError, ValueError):  # a text that does not compile has no code
                continue
            for code in codes:
                by_name.setdefault(code.co_name, []).append(code)
                self.names.update(code.co_names)

    def is_new(self, code):
        """Whether this code is of these files, the user's text has none like it, and no change of it was asked for."""
        if code is None or code.co_filename not in self._codes:
            return False
        known = self._known.get(id(code))
        if known is None:
            own = self._codes[code.co_filename].get(code.co_name, ())
            is_asked = bool(own) and code.co_name in self._asked.get(code.co_filename, ())
            known = code, not is_asked and not any(self._same(code, other) for other in own)
            self._known[id(code)] = known  # it keeps the code, and so its id
        return known[1]


def _full_paths(root, by_path):
    return {os.path.join(root, *path.split("/")): value for path, value in by_path.items()}


def _code_below(cache):
    return getattr(getattr(cache, "__wrapped__", None), "__code__", None)


class File:
    """One changed file: its functions whose code differs from the user's, and what can be put in their place."""

    def __init__(self, path, text, code_objects):
        same = code_objects.same_code
        try:
            own = code_objects.codes_of_text(text, path)
        except (SyntaxError, ValueError):
            own = {}
        live = code_objects.live_functions(path)
        with open(path, "rb") as stream:
            present = code_objects.codes_of_text(stream.read(), path)
        self._replaceable, self.replaces_new = [], False
        for name, code in present.items():
            if "<locals>" in name or (name in own and same(code, own[name])):
                continue
            functions = live.get((code.co_name, code.co_firstlineno), [])
            self._replaceable += [(function, function.__code__, own.get(name)) for function in functions]
        self.has_own_code = any(own_code for _function, _code, own_code in self._replaceable)

    def put(self, mode):
        """Puts other code into the changed functions; why that cannot be done, or ""."""
        for function, code, own in self._replaceable:
            if mode == OWN and own is not None:
                if own.co_freevars != code.co_freevars:
                    return "%s has other variables of the code around it" % code.co_name
                function.__code__ = own
            elif mode != OWN and (own is not None or self.replaces_new):
                function.__code__ = _code_instead(function, mode)
        return ""

    def restore(self):
        for function, code, _own in self._replaceable:
            function.__code__ = code


def _code_instead(function, mode):
    """Code that calls this function as it is now and gives a result that is slightly wrong, or that does nothing."""
    same = types.FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    same.__kwdefaults__ = function.__kwdefaults__
    if mode == NOTHING:
        template = _do_nothing
    elif inspect.iscoroutinefunction(function):
        template = _await_wrongly
    elif inspect.isgeneratorfunction(function):
        template = _yield_wrongly
    else:
        template = _return_wrongly
    constants = tuple(
        {"SAME": same, "WRONG": wrong, "ERROR": Exception}.get(constant, constant)
        if isinstance(constant, str)
        else constant
        for constant in template.__code__.co_consts
    )
    code = function.__code__
    return template.__code__.replace(
        co_consts=constants, co_freevars=code.co_freevars, co_name=code.co_name, co_filename=code.co_filename
    )


# The texts in these are replaced by the function itself, `wrong` and `Exception`: no name of theirs may be looked up in
# the candidate's module.


def _return_wrongly(*args, **keywords):
    same = "SAME"
    change = "WRONG"
    error = "ERROR"
    try:
        result = same(*args, **keywords)
    except error:
        return None
    return change(result)


def _yield_wrongly(*args, **keywords):
    same = "SAME"
    change = "WRONG"
    for result in same(*args, **keywords):
        yield change(result)
    yield None


async def _await_wrongly(*args, **keywords):
    same = "SAME"
    change = "WRONG"
    error = "ERROR"
    try:
        result = await same(*args, **keywords)
    except error:
        return None
    return change(result)


def _do_nothing(*_args, **_keywords):
    return None


def wrong(value):
    """A value of the same kind that is not equal to this one, where its type is plain; else None."""
    kind = type(value)
    if kind is bool:
        return not value
    if kind is int:
        return value + 1
    if kind in (float, complex):
        return value + 1 if cmath.isfinite(value) and value + 1 != value else kind(0)
    if kind is str:
        return value + "~"
    if kind is bytes:
        return value + b"~"
    if kind is list:
        return [*value, None]
    if kind is tuple:
        return (*value, None)
    if kind in (set, frozenset):
        return kind([*value, ("another",)])
    if kind is dict:
        return {**value, ("another",): None}
    return 1 if value is None else None
