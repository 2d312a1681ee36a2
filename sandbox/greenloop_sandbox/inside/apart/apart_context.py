"""Context of a message besides values: replacements, variables, time, streams, logs, module globals.

The judge sends what the code has to know to behave as the test expects; the code sends what it has printed, logged and
warned of, and plain values of module globals that its functions may rebind. Nothing of it is an object of the code.
"""

import contextvars
import importlib
import io
import logging
import os
import random
import sys
import types
import warnings
import weakref

from apart_decoder import Decoder
from apart_encoder import Encoder
from apart_rules import FUNCTIONS, NEVER, CannotCross, module_of

PLAIN = (int, str, bool, float, type(None), bytes)
# Variables that would tell the code that it is being tested.
TELLING = ("PYTEST_", "PYTHON", "GREENLOOP", "COV_", "CI", "TOX_", "NOX_", "HYPOTHESIS_")
# Names of `sys` that a test may replace for itself.
OF_THE_PROCESS = ("stdout", "stderr", "stdin", "argv", "path", "modules")
PATCHABLE = frozenset(("sys", "subprocess", "gc", "importlib"))


def changed_globals(peer, rebound, base):
    """Encodes the globals of the project that functions rebind and that have another plain value than `base` says."""
    found = []
    for name, names in rebound:
        module = sys.modules.get(name)
        for key in names if module is not None else ():
            value = vars(module).get(key, peer)
            if (name, key) not in base:
                base[name, key] = value
            elif base[name, key] is not value and type(value) in PLAIN:
                base[name, key] = value
                found.append([[name, key], Encoder(peer).encode(value)])
    return found


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


class Contexts:
    """The code's contexts by the judge's numbers; `current` is that of the last message."""

    def __init__(self):
        self._by_number, self._entered, self.current = {}, set(), (0, None)

    def run(self, function, *args):
        number, parent = self.current
        if number == 0 or number in self._entered:
            return function(*args)
        if number not in self._by_number:
            copied = contextvars.copy_context() if parent == 0 else contextvars.Context()
            self._by_number[number] = self._by_number[parent].copy() if parent in self._by_number else copied
        context, decimals = self._by_number[number], decimal_context()
        self._entered.add(number)
        try:
            if decimals:  # they come with each message
                context.run(set_decimal_context, *decimals)
            return context.run(function, *args)
        finally:
            self._entered.discard(number)
            if decimals:
                set_decimal_context(*context.run(decimal_context))


def decimal_context():
    """[precision, rounding] of decimals; None where nobody has imported the module."""
    module = sys.modules.get("decimal")
    return module and [module.getcontext().prec, module.getcontext().rounding]


def set_decimal_context(precision, rounding):
    """Raises `CannotCross` for what is no context."""
    decimal = importlib.import_module("decimal")
    if type(precision) is not int or not 0 < precision <= 1000 or getattr(decimal, str(rounding), "") != rounding:
        raise CannotCross("a context of decimals")
    decimal.getcontext().prec, decimal.getcontext().rounding = precision, rounding


# -- the judge --------------------------------------------------------------------------------------------------------


class Replacements:
    """Which attributes tests have replaced right now, by `monkeypatch` or `mock.patch`."""

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
        self._tasks, self._seen, self._count, self._names = TaskNumbers(), (None, None), -1, []

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
        }
        fields = {}
        if context != self._last:
            self._last, fields["context"] = context, dict(context)
        if random.getstate() != self._random:
            self._random = random.getstate()
            fields["random"] = [self._random[0], list(self._random[1]), self._random[2]]
        task = self._tasks.current()
        if task[0]:
            fields["task"] = task
        found = changed_globals(peer, self._rebound, self._base)
        return dict(fields, globals=found) if found else fields

    def is_hidden(self, path):
        return any(path == hidden or path.startswith(hidden + os.sep) for hidden in self._hidden)

    def _levels(self, peer):
        known = logging.root.manager.loggerDict
        if len(known) != self._count:
            self._count, self._names = (
                len(known),
                sorted(each for each in known if each.split(".")[0] in peer.rules.project),
            )
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
            (sys.stdout if name == "stdout" else sys.stderr).write(str(text))
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
            set_decimal_context(max(1, peer.changed_value(precision)), rounding)
        known = {(module, name) for module, names in self._rebound for name in names}
        for (module, name), encoded in message.get("globals", ()):
            if (module, name) in known and module in sys.modules:
                value, space = Decoder(peer, {}, set(), set()).decode(encoded), vars(sys.modules[module])
                is_plain = type(value) in PLAIN and not isinstance(space.get(name), (type, *FUNCTIONS))
                if is_plain and peer.takes_change("the global %s.%s" % (module, name)):
                    space[name] = self._base[module, name] = peer.changed_value(value)

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


# -- the code ---------------------------------------------------------------------------------------------------------


class CodeContext:
    """Takes the judge's part of a message, and makes that of the code."""

    def __init__(self, request):
        self._rebound, self._base, self._undo, self._decimal = request["rebound"], {}, [], None
        self._streams, self._logged, self._warned = (), [], []
        self.contexts = Contexts()

    def start(self):
        self._streams = [io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2)]
        (sys.stdout, sys.stderr), sys.stdin = self._streams, io.StringIO()
        logged, warned = self._logged, self._warned

        class Handler(logging.Handler):
            def emit(self, record):
                logged.append([record.name, record.levelno, record.getMessage(), record.funcName, record.lineno])

        logging.getLogger().addHandler(Handler())
        logging.getLogger().setLevel(1)

        def show_warning(message, category, filename, lineno, *_args, **_keywords):
            warned.append([category.__module__, category.__qualname__, str(message), filename, lineno])

        warnings.showwarning = show_warning
        warnings.simplefilter("always")

    def forget(self):
        """Forgets what was printed, logged and warned of until now."""
        self._logged.clear()
        self._warned.clear()
        list(self._printed())

    def _printed(self):
        """Yields [name of the stream, what was printed to it until now]."""
        for name, stream in zip(("stdout", "stderr"), self._streams):  # noqa: B905 - Python 3.9
            text = "" if stream.closed else stream.buffer.getvalue().decode("utf-8", "replace")
            if text:
                stream.seek(0)
                stream.truncate()
                yield [name, text]

    def outgoing(self, peer, _encoder):
        printed = list(self._printed())
        fields = {"printed": printed} if printed else {}
        for name, held in (("logged", self._logged), ("warned", self._warned)):
            if held:
                fields[name] = held[:]
                held.clear()
        before, self._decimal = self._decimal, decimal_context()
        # Of a module that is imported late the judge has the same defaults.
        if before is not None and before != self._decimal:
            fields["decimal"] = self._decimal
        found = changed_globals(peer, self._rebound, self._base)
        return dict(fields, globals=found) if found else fields

    def incoming(self, peer, message):
        decoder = Decoder(peer, message["o"], set(), set())
        self.contexts.current = tuple(message.get("task", (0, None)))
        context = message.get("context")
        if context is not None:
            sys.path[:] = context["path"]
        for (module, name), encoded in message.get("globals", ()):
            value = self._base[module, name] = decoder.decode(encoded)
            setattr(importlib.import_module(module), name, value)
        if "random" in message:
            version, state, gauss = message["random"]
            random.setstate((version, tuple(state), gauss))
        if context is not None:
            self._enter(context, decoder)

    def _enter(self, context, decoder):
        while self._undo:
            self._undo.pop()()
        os.chdir(context["cwd"])
        if context["decimal"]:
            set_decimal_context(*context["decimal"])
            self._decimal = context["decimal"]
        for name in set(os.environ) - set(context["environ"]):
            del os.environ[name]
        os.environ.update(context["environ"])
        for name, level in context["levels"]:
            logging.getLogger(name).setLevel(level)
        for target, name, value, is_deleted in context["replaced"]:
            self._replace(decoder.decode(target), name, decoder.decode(value), is_deleted)
        if context["frozen"]:
            freezer = importlib.import_module("freezegun").freeze_time(context["frozen"])
            freezer.start()
            self._undo.append(freezer.stop)

    def _replace(self, target, name, value, is_deleted):
        missing = object()
        before = vars(target).get(name, missing)
        try:
            if is_deleted:
                delattr(target, name)
            else:
                setattr(target, name, value)
        except AttributeError:
            return
        undo = (lambda: delattr(target, name)) if before is missing else (lambda: setattr(target, name, before))
        self._undo.append(undo)
