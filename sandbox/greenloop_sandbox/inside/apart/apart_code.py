"""The code's process: imports the changed modules and answers the judge. No pytest, no tests; argv says nothing."""

import importlib
import inspect
import json
import os
import socket
import sys
import types

from apart_context import CodeContext
from apart_modules import ABSENT, CodeFinder
from apart_peer import EXIT_AT_ONCE, Gone, Peer
from apart_rules import CannotCross, is_plain
from apart_signatures import fields_of, hooks_of, signature_of
from apart_tasks import CodeTasks, asyncio, running_loop
from apart_view import restrict


class Code(CodeTasks, Peer):
    """Answers the judge's questions. `functions` are the bare functions of the workspace by (module, key)."""

    def __init__(self, request, wire, functions):
        super().__init__(False, request, wire)
        self._functions, self.context = functions, CodeContext(request)
        self.prepare_tasks()
        self._lines = _Lines(request)
        self._has_applications = "DJANGO_SETTINGS_MODULE" not in os.environ

    def end(self):
        os._exit(EXIT_AT_ONCE)

    def outgoing(self, encoder):
        return {**self.context.outgoing(self, encoder), **self._lines.fields()}

    def incoming(self, message):
        self.context.incoming(self, message)
        if not self._has_applications:  # of Django, which a module with models needs; the judge's path is here now
            self._has_applications = True
            try:
                importlib.import_module("django").setup()
            except Exception:
                pass  # the import of such a module says why

    def answer(self, kind, values):
        if kind == "turn":
            with self._lines:
                return self.turn(*values)
        return self.context.contexts.run(self._answer, kind, values)

    def start(self, kind, values):
        """The awaitable that a question asks for."""
        if kind == "call":
            return self._function(*values[:3])(*values[3], **(values[4] or {}))
        return super().answer(kind, values)

    def in_context(self, number, function):
        self.context.contexts.current = number
        return self.context.contexts.run(function)

    def _function(self, module, key, is_bare):
        importlib.import_module(module)
        return self._functions[module, key] if is_bare else self._find(module, key)

    def _call_method(self, *values):
        result = super()._call_method(*values)
        return result if running_loop() else _run(result)

    def _answer(self, kind, values):
        if kind == "call":
            function = self._function(*values[:3])
            with self._lines:
                result = function(*values[3], **(values[4] or {}))
                return _run(result) if inspect.iscoroutinefunction(function) else result
        if kind == "get":
            return self._find(*values)
        if kind == "signature":
            return signature_of(self._function(*values) if len(values) > 1 else values[0])
        if kind == "outside":
            return self._outside(*values)
        if kind == "shape":
            found = self._find(*values)
            return [*_shape(found), self._attributes(found)]
        if kind == "refused":
            raise values[0]
        if kind == "subclass":
            return [[each, self._attributes(each)] for each in values[0].__mro__ if self.rules.is_mirrored(each)]
        if kind == "names":
            return [*vars(importlib.import_module(*values))]
        return super().answer(kind, values)

    def _outside(self, module, path):
        """The names that a function has, such as those that its decorator adds; None of what cannot be called."""
        owner, _, name = path.rpartition(".")
        if not callable(vars(self._find(module, owner)).get(name, callable)):
            return None
        found = self._find(module, path)
        return [] if isinstance(found, type) else [name for name in dir(found) if not name.startswith("_")]

    def _attributes(self, kind):
        return {name: value for name, value in vars(kind).items() if is_plain(value, self.is_class_of_tests)}

    @staticmethod
    def _find(module, path):
        found = importlib.import_module(module)
        for name in path.split(".") if path else ():
            found = getattr(found, name)
        return found


class _Lines:
    """Notes which lines of the changed files run, where that is asked for."""

    def __init__(self, request):
        paths = request["files"] if request["lines"] else ()
        self._paths = {os.path.realpath(os.path.join(request["root"], path)): path for path in paths}
        self._ran = set()

    def __enter__(self):
        if self._paths:
            sys.settrace(self._trace)

    def __exit__(self, *_error):
        if self._paths:
            sys.settrace(None)

    def fields(self):
        ran, self._ran = self._ran, set()
        return {"ran": sorted(ran)} if ran else {}

    def _trace(self, frame, event, _argument):
        path = self._paths.get(frame.f_code.co_filename)
        if path is None:
            return None
        if event == "line":
            self._ran.add((path, frame.f_lineno))
        return self._trace


def _shape(kind):
    """[abstract methods, whether it guards attributes, fields, what meets its subclasses, functions]"""
    values = [value for base in kind.__mro__[:-1] for value in vars(base).values()]
    guards = [each for each in values if hasattr(type(each), "__set__") and not isinstance(each, property)]
    decides = kind.__setattr__ is not object.__setattr__ or not hasattr(kind, "__dict__") or bool(guards)
    functions = [name for name, value in vars(kind).items() if isinstance(value, types.FunctionType)]
    return [sorted(getattr(kind, "__abstractmethods__", ())), decides, fields_of(kind), hooks_of(kind), functions]


def _run(value):
    if not isinstance(value, types.CoroutineType):
        return value
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(value)
    finally:
        loop.close()


def main(fd):
    """Serves the judge at this socket until it closes it."""
    wire = socket.socket(fileno=fd).makefile("rwb")
    request = json.loads(wire.readline())
    reason = ""
    try:
        restrict(request["hidden"], request["visible"], request["writable"])
    except OSError as error:
        reason = str(error)
    wire.write(json.dumps({"reason": reason}).encode() + b"\n")
    wire.flush()
    if reason:
        return
    sys.argv[:] = ["pytest"] if request["aware"] else [""]
    if request["aware"]:
        sys.modules.update((name, types.ModuleType(name)) for name in ABSENT)
    sys.modules["__main__"] = types.ModuleType("__main__")
    functions = {}
    finder = CodeFinder(request["root"], request["files"], functions, sys.meta_path[:])
    sys.meta_path[:] = [finder]
    code = Code(request, wire, functions)
    finder.after_import = code.context.take_said  # the judge has imported the modules of its own
    while True:
        try:
            code.serve()
        except Gone:
            os._exit(0)
        except CannotCross as error:
            code.send("unfit", [str(error)])
