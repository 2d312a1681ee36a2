"""The judge's part of a message's context: what tests have replaced, and what the code has printed, logged and set."""

import contextvars
import logging
import os
import random
import sys
import types
import warnings
import weakref

from apart_context import DIGITS, changed_globals, decimal_context, set_decimal_context
from apart_decoder import Decoder
from apart_questions import CHANGES
from apart_rules import FUNCTIONS, NEVER, PLAIN_TYPES, CannotCross, module_of

# Variables that would tell the code that it is being tested.
TELLING = ("PYTEST_", "PYTHON", "GREENLOOP", "COV_", "CI", "TOX_", "NOX_", "HYPOTHESIS_")
# Names of `sys` that a test may replace for itself.
OF_THE_PROCESS = ("stdout", "stderr", "stdin", "argv", "path", "modules")
PATCHABLE = frozenset(("sys", "subprocess", "gc", "importlib"))


class TaskNumbers:
    """The judge's numbers of the contexts of `contextvars` that calls come from; 0 is that of the process."""

    def __init__(self):
        self._held, self._count = contextvars.ContextVar("apart_task", default=(None, None, None)), 0
        self._held.set((0, None, None))

    def current(self):
        """(number, number of the context that it began as a copy of; None of one that began empty)"""
        asyncio = sys.modules.get("asyncio")
        task = asyncio.current_task() if asyncio and asyncio._get_running_loop() else None
        number, owner, parent = self._held.get()
        if number is None or (task is not None and owner is not task):
            self._count += 1
            number, parent = self._count, number
            self._held.set((number, task, parent))
        return number, parent


class Replacements:
    """Attributes that tests have replaced at the moment, by `monkeypatch` or `mock.patch`."""

    def __init__(self):
        self._monkeypatches, self._patches = weakref.WeakSet(), []

    def watch(self):
        import unittest.mock

        from _pytest.monkeypatch import MonkeyPatch

        make, enter, leave = MonkeyPatch.__init__, unittest.mock._patch.__enter__, unittest.mock._patch.__exit__

        def note_monkeypatch(this, *args, **keywords):
            make(this, *args, **keywords)
            self._monkeypatches.add(this)

        def note_enter(this):
            result = enter(this)
            self._patches.append(this)
            return result

        def note_exit(this, *args):
            if this in self._patches:
                self._patches.remove(this)
            return leave(this, *args)

        MonkeyPatch.__init__, MonkeyPatch.__hash__ = note_monkeypatch, object.__hash__
        unittest.mock._patch.__enter__, unittest.mock._patch.__exit__ = note_enter, note_exit

    def targets(self):
        for monkeypatch in list(self._monkeypatches):
            yield from ((target, name) for target, name, _ in monkeypatch._setattr)
            for table, name, _ in monkeypatch._setitem:
                module = sys.modules.get(str(table.get("__name__"))) if type(table) is dict else None
                if module is not None and vars(module) is table:
                    yield module, name
        yield from ((patch.target, patch.attribute) for patch in self._patches if hasattr(patch, "target"))


class JudgeContext:
    """Makes the judge's part of a message, only when it has changed, and takes that of the code."""

    def __init__(self, replacements, request):
        self._replacements, self._rebound, self._hidden = replacements, request["rebound"], request["hidden"]
        self._last, self._random, self._base, self._is_aware = None, random.getstate(), {}, request["aware"]
        self.tasks, self._seen, self._count, self._names = TaskNumbers(), (None, None), -1, []

    def outgoing(self, peer, encoder):
        if self._seen != (os.environ._data, sys.path):
            self._seen = (dict(os.environ._data), list(sys.path))
            shown = lambda name: self._is_aware or not name.startswith(TELLING)  # noqa: E731
            self._environ = {name: value for name, value in os.environ.items() if shown(name)}
            self._path = [entry for entry in sys.path if not self.is_hidden(entry)]
        context = {
            "cwd": os.getcwd(),
            "environ": self._environ,
            "path": self._path,
            "levels": self._levels(peer),
            "replaced": self._replaced(peer, encoder),
            "frozen": self._frozen_time(),
            "decimal": decimal_context(),
            "depth": sys.getrecursionlimit(),
        }
        fields = {}
        if context != self._last:
            self._last, fields["context"] = context, dict(context)
        if random.getstate() != self._random:
            self._random = random.getstate()
            fields["random"] = [self._random[0], list(self._random[1]), self._random[2]]
        task = self.tasks.current()
        if task[0]:
            fields["task"] = task
        found = changed_globals(peer, self._rebound, self._base)
        return dict(fields, globals=found) if found else fields

    def is_hidden(self, path):
        return any(path == hidden or path.startswith(hidden + os.sep) for hidden in self._hidden)

    def _levels(self, peer):
        known = logging.root.manager.loggerDict
        if len(known) != self._count:
            self._count = len(known)
            self._names = sorted(each for each in known if each.split(".")[0] in peer.rules.project)
        return [(name, level) for name in self._names if (level := getattr(known[name], "level", 0))]

    @staticmethod
    def _frozen_time():
        module = sys.modules.get("freezegun.api")
        return str(module.freeze_factories[-1]()) if module is not None and module.freeze_factories else None

    def _replaced(self, peer, encoder):
        found = []
        for target, name in self._replacements.targets():
            if isinstance(target, types.ModuleType):
                top = target.__name__.split(".")[0]
                if (top in NEVER and top not in PATCHABLE) or peer.rules.is_test_module(target.__name__):
                    continue
                if target is sys and name in OF_THE_PROCESS:
                    continue
                encoded = ["m", target.__name__]
            elif isinstance(target, type) and peer.rules.name_of(target) and module_of(target) not in NEVER:
                encoded = encoder.encode(target)
            else:
                continue
            value = vars(target).get(name, peer)
            found.append([encoded, name, None if value is peer else encoder.encode(value), value is peer])
        return found

    def incoming(self, peer, message):
        for name, text in message.get("printed", ()):
            (sys.stdout if name == "stdout" else sys.stderr).write(peer.wholly_wrong(str(text)))
        for name, level, text, function, line in message.get("logged", ()):
            logger = logging.getLogger(str(name))
            if logger.isEnabledFor(int(level)):
                where = ("code", int(line))
                record = logger.makeRecord(logger.name, int(level), *where, str(text), (), None, str(function))
                logger.handle(record)
        for module, name, text, path, line in message.get("warned", ()):
            try:
                category = peer.rules.resolve(module, name)
            except CannotCross:
                category = UserWarning
            if isinstance(category, type) and issubclass(category, Warning):
                self._warn(peer, str(text), category, str(path), int(line))
        if "decimal" in message and peer.takes_change("the context of decimals"):
            precision, rounding = message["decimal"]
            set_decimal_context(max(1, min(peer.given(CHANGES, precision), DIGITS[-1])), rounding)
        known = {(module, name) for module, names in self._rebound for name in names}
        for (module, name), encoded in message.get("globals", ()):
            if (module, name) in known and module in sys.modules:
                value, space = Decoder(peer, {}, set(), set()).decode(encoded), vars(sys.modules[module])
                is_plain = type(value) in PLAIN_TYPES and not isinstance(space.get(name), (type, *FUNCTIONS))
                if is_plain and peer.takes_change("the global %s.%s" % (module, name)):
                    space[name] = self._base[module, name] = peer.given(CHANGES, value)

    @staticmethod
    def _warn(peer, text, category, path, line):
        """Warns where the code did, or where the test calls it."""
        frame = sys._getframe()
        folder = os.path.dirname(frame.f_code.co_filename)
        while frame.f_back is not None and os.path.dirname(frame.f_code.co_filename) == folder:
            frame = frame.f_back
        if not path.startswith(peer.rules.root):
            path, line = frame.f_code.co_filename, frame.f_lineno
        warnings.warn_explicit(
            text, category, path, line, registry=frame.f_globals.setdefault("__warningregistry__", {})
        )
