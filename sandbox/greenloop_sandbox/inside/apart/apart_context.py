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
import warnings

from apart_decoder import Decoder
from apart_encoder import Encoder
from apart_rules import PLAIN_TYPES, CannotCross

DIGITS = range(1, 1001)  # how many a decimal may have


def changed_globals(peer, rebound, base):
    """Encodes the globals of the project that functions rebind and that have another plain value than `base` says."""
    found = []
    for name, names in rebound:
        module = sys.modules.get(name)
        for key in names if module is not None else ():
            value = vars(module).get(key, peer)
            if (name, key) not in base:
                base[name, key] = value
            elif base[name, key] is not value and type(value) in PLAIN_TYPES:
                base[name, key] = value
                found.append([[name, key], Encoder(peer).encode(value)])
    return found


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
    if type(precision) is not int or precision not in DIGITS or getattr(decimal, str(rounding), "") != rounding:
        raise CannotCross("a context of decimals")
    decimal.getcontext().prec, decimal.getcontext().rounding = precision, rounding


class CodeContext:
    """Takes the judge's part of a message, and makes that of the code."""

    def __init__(self, request):
        self._rebound, self._base, self._undo, self._decimal = request["rebound"], {}, [], None
        self.contexts, self._said = Contexts(), {"logged": [], "warned": []}
        self._streams = [io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2)]
        (sys.stdout, sys.stderr), sys.stdin = self._streams, io.StringIO()
        (logged, warned), handler = self._said.values(), logging.Handler()
        handler.emit = lambda each: logged.append(
            [each.name, each.levelno, each.getMessage(), each.funcName, each.lineno]
        )
        logging.getLogger().addHandler(handler)
        logging.getLogger().setLevel(1)

        def show_warning(message, category, filename, lineno, *_args, **_keywords):
            warned.append([category.__module__, category.__qualname__, str(message), filename, lineno])

        warnings.showwarning = show_warning
        warnings.simplefilter("always")

    def take_said(self):
        """Takes what was printed, logged and warned of until now."""
        found = {"printed": list(self._printed()), **{name: held[:] for name, held in self._said.items()}}
        for held in self._said.values():
            held.clear()
        return {name: held for name, held in found.items() if held}

    def _printed(self):
        """Yields [name of the stream, what was printed to it until now]."""
        for name, stream in zip(("stdout", "stderr"), self._streams):  # noqa: B905 - Python 3.9
            text = "" if stream.closed else stream.buffer.getvalue().decode("utf-8", "replace")
            if text:
                stream.seek(0)
                stream.truncate()
                yield [name, text]

    def outgoing(self, peer, _encoder):
        fields = self.take_said()
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
        sys.setrecursionlimit(context["depth"])
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
