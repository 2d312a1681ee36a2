"""Reversal: does a case pass because of the candidate's code, or because of something that this code left behind?

First every case runs as usual. Then, in the same process, the user's own code objects are put back into the changed
functions, and the cases that failed at the start run again: they must fail again. For the other cases, and where there
is no code to put back, the changed functions give results that are slightly wrong, and the cases must fail too.
What still passes passes for another reason: a patched comparison, a cache, a test that looks at nothing.

A test's own assertions are not read, so loops, helpers, base classes, doctests and scorers are all the same here.
`returned_values.py` and `integrity.py` say what else must hold for the result to count.
"""

import os
import sys
import threading

import pytest
from _pytest import doctest
from _pytest.runner import runtestprotocol


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
        self._own = siblings["code_objects"].OwnCode(self._files, _full_paths(root, request["asked"]))
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
        self._altered = self._siblings["integrity"].make_watch(self._siblings["code_objects"])
        self._watch = self._siblings["returned_values"].Watch(self._own.is_new, self._names_of_altered)
        hook, self._reached = self._siblings["reach_watch"].make(
            self._root, self._own.is_new, self._own.names, self._altered.excuse
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
            self._modules = self._siblings["value_replacement"].WorkspaceModules(self._root)
            self._modules.look()
            self._values = {path: self._changed_values(path, text) for path, text in self._files.items()}
            self._caches = [cache for cache in caches if self._own.is_new(_code_below(cache))]
        for cache in self._caches:  # what a cache holds was returned when nobody looked
            cache.cache_clear()
        self._watch.start()
        profiling = self._watch.profile(lasting=True)
        next(profiling)
        yield
        next(profiling, None)

    def _changed_values(self, path, text):
        """The changed values of a file; one that may lie when it is compared counts for every case."""
        replacement = self._siblings["code_replacement"]
        values = self._siblings["value_replacement"].ChangedValues(
            self._modules, path, text, replacement.read_present(path), replacement.wrong
        )
        for value in values.present():
            self._watch.look(value)
        self._watch.lasting = self._watch.lasting or self._watch.unfit
        return values

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item):
        if self._phases is not None:
            yield
            return
        altered, checker = [], None
        if isinstance(item, doctest.DoctestItem):
            checker = self._siblings["doctest_watch"].Checker(item, lambda: altered.extend(self._names_of_altered()))
        self._watch.start(shows=checker is not None)
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
        self._modules.look()  # tests may have imported more
        replacement, code_objects = self._siblings["code_replacement"], self._siblings["code_objects"]
        self._changed = [
            replacement.ChangedFile(path, text, self._values[path], code_objects) for path, text in self._files.items()
        ]
        failing = [item for item in session.items if item.nodeid in self._failing]
        others = [item for item in session.items if item.nodeid not in self._failing]
        if not any(file.has_own_code for file in self._changed):  # the functions are new
            failing, others = [], session.items
            for file in self._changed:
                file.replaces_new = True
        still_passing = self._run_again(replacement.OWN, failing)
        if any(file.replaces_new for file in self._changed):  # the user's own code had nothing in its place
            others = [*others, *still_passing]
        self._run_again(replacement.NOTHING, self._run_again(replacement.WRONG, others))

    def _run_again(self, mode, items):
        """Runs the items over other code; returns those that pass."""
        if not items:
            return []
        passing = []
        unfit = next(filter(None, [file.put(mode) for file in self._changed]), "")
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
            for file in self._changed:
                file.restore()
        return passing


def _full_paths(root, by_path):
    return {os.path.join(root, *path.split("/")): value for path, value in by_path.items()}


def _code_below(cache):
    return getattr(getattr(cache, "__wrapped__", None), "__code__", None)
