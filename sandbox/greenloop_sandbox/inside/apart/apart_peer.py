"""One side of the conversation between judge and code: numbers of objects, messages, and calls in both directions.

A message is four bytes of length and one JSON object: {"k": kind, "v": values, "o": {number: state}, ...context}. While
one side waits for its answer, it serves the questions of the other.
"""

import json
import struct
import sys
import threading
import types

from apart_decoder import Decoder
from apart_encoder import Encoder, roots_of
from apart_handles import Handle, operate
from apart_objects import NoClass, Objects
from apart_rules import SHOWN, SPECIAL, CannotCross, Rules

MOST_BYTES = 64 << 20  # of one message
WAIT = 3.0  # seconds for the answer to another thread; it may be waiting for this one
AT_ONCE, EXIT_AT_ONCE = "threads ask at the same time", 3
_to_json = json.JSONEncoder(check_circular=False).encode
_HEADER = struct.Struct(">I")


class Peer(Objects):
    """Common base of both sides. `wire` is a binary stream; `request` is that of `Rules`.

    A side adds to it: `outgoing(encoder)`, more fields of the next message; `incoming(message)`, which takes those of
    the other side; `end()`, which ends the conversation at once, from whatever thread; and the judge `give_up(error)`,
    which notes why nothing can be concluded from this run.
    """

    def __init__(self, is_judge, request, wire):
        self.is_judge, self.rules, self.wire = is_judge, Rules(is_judge, request), wire
        self.tag, self.other_tag = ("j", "c") if is_judge else ("c", "j")
        self.numbers, self.objects, self.known, self.handle_roots, self.class_keywords = {}, {}, {}, {}, {}
        self._count, self._paths, self._module_count = 0, {}, -1
        self._frames, self._windows, self._traces, self._lock = [], [], [], threading.RLock()

    def share(self, value, number=None):
        if number is None:
            self._count += 1
            number = "%s%d" % (self.tag, self._count)
        self.keep(number, value)
        return number

    def keep(self, number, value):
        self.objects[number] = value
        self.numbers[id(value)] = number
        if isinstance(value, type):
            self.rules.made[id(value)] = value

    def current_roots(self):
        """The objects of the innermost call."""
        return roots_of(self._frames[-1]) if self._frames else ()

    # -- messages -------------------------------------------------------------------------------------------------

    def send(self, kind, values):
        encoder = Encoder(self)
        try:
            extra = self.outgoing(encoder)
            encoded = encoder.message(values, [each for frame in self._frames for each in frame if each is not values])
        except CannotCross:
            for number in encoder.states:  # the other side never gets them
                del self.known[number]
            raise
        body = _to_json({"k": kind, "v": encoded, "o": encoder.states, **extra}).encode()
        if len(body) > MOST_BYTES:
            raise CannotCross("a message of %d bytes" % len(body))
        try:
            self.wire.write(_HEADER.pack(len(body)) + body)
            self.wire.flush()
        except (OSError, ValueError) as error:
            raise Gone(self.why_gone(error)) from None
        if self._windows:
            self._windows[-1][0].update(encoder.seen)
            self._windows[-1][1].update(encoder.bare)

    def receive(self):
        """The next message's kind and values. Raises `CannotCross` for anything that is not one."""
        try:
            (size,) = _HEADER.unpack(self.wire.read(_HEADER.size))
            if size > MOST_BYTES:
                raise CannotCross("a message of %d bytes" % size)
            message = json.loads(self.wire.read(size))
        except (struct.error, OSError, ValueError, RecursionError) as error:
            raise Gone(self.why_gone(error)) from None
        if type(message) is not dict or type(message.get("v")) is not list or type(message.get("o")) is not dict:
            raise CannotCross("a message of unknown form")
        try:
            self.incoming(message)
            window = self._windows[-1] if self._windows else (set(), set())
            return message["k"], Decoder(self, message["o"], *window).decode_message(message["v"])
        except NoClass as refused:
            if self.is_judge or message["k"] != "subclass":
                raise
            return "refused", [refused.error]
        except RecursionError:
            raise CannotCross("a value that is nested too deep") from None
        except Exception as error:
            raise CannotCross("a value cannot be rebuilt (%s: %s)" % (type(error).__name__, error)) from None

    def why_gone(self, error):
        return "the other process is gone, or its message cannot be read (%s)" % error

    def begin(self, values, roots):
        if not self._lock.acquire(timeout=WAIT):
            self.end()
            raise CannotCross(AT_ONCE)
        outer = self._windows[-1] if self._windows else ((), ())
        self._windows.append((set(outer[0]), set(outer[1])))
        self._frames.append((values, roots))

    def request(self, kind, *values, roots=()):
        """Asks the other side, while nobody else does, and returns its answer; raises what was raised there."""
        self.begin(values, roots)
        self._traces.append(sys.gettrace())
        sys.settrace(None)  # that of a test's assertions would be called for each function of this file
        try:
            self.send(kind, values)
            while True:
                answer, got = self.receive()
                if answer in ("return", "raise", "unfit"):
                    return self._result(answer, got)
                self._serve(answer, got)
        except CannotCross as error:
            if self.is_judge:
                self.give_up(error)
            raise
        finally:
            sys.settrace(self._traces.pop())
            self._frames.pop()
            self._windows.pop()
            self._lock.release()

    @staticmethod
    def _result(answer, values):
        if answer == "return":
            return values[0]
        if answer == "unfit":
            raise CannotCross(str(values[0]))
        raise values[0] if isinstance(values[0], BaseException) else CannotCross("no exception was raised")

    def _serve(self, kind, values):
        on_handle = kind == "op" and len(values) > 1
        roots = self.handle_roots.get(id(values[1]), ()) if on_handle else ()
        of_tasks = (held for _, held in self._tasks.values()) if kind == "turn" else roots
        self._frames.append((values, tuple(of_tasks)))
        try:
            try:
                sys.settrace(self._traces[-1] if self._traces else None)
                reply = "return", [self.answer(kind, values)]
            except CannotCross:
                raise
            except BaseException as error:
                error.__traceback__ = None
                reply = "raise", [error]
                if self.is_judge:
                    self.note_raised(error)
            finally:
                sys.settrace(None)
            self.send(*reply)
        except CannotCross as error:
            if self.is_judge:
                raise
            self._frames[-1] = ()
            self.send("unfit", [str(error)])
        finally:
            self._frames.pop()

    def serve(self):
        """Answers the next question."""
        self._serve(*self.receive())

    def answer(self, kind, values):
        if kind == "op":
            return self._operate(*values)
        if kind == "method":
            return self._call_method(*values)
        raise CannotCross("an unknown question")

    def _operate(self, operation, value, *rest):
        """Does what the other side asks of an object of this one."""
        if self.is_judge:
            if isinstance(value, Handle) or self.numbers.get(id(value), "?")[0] != self.tag:
                raise CannotCross("an object that was not lent")
            self.rules.check_lent(operation, value, rest[0] if rest else None)
        return operate(operation, value, *rest)

    def _call_method(self, kind, name, args, keywords):
        if not isinstance(kind, type) or self.numbers.get(id(kind), "?")[0] != self.tag:
            raise CannotCross("a class that was not lent")
        sets, name = name.endswith("="), name.rstrip("=")
        raw = vars(kind)[name]
        if isinstance(raw, property):
            function = raw.fset if sets else raw.fget
        else:
            function = raw.__func__ if isinstance(raw, (staticmethod, classmethod)) else raw
        if not isinstance(function, types.FunctionType):
            raise CannotCross("no method")
        return function(*args, **(keywords or {}))

    # -- functions and handles ------------------------------------------------------------------------------------

    def call(self, question, args, keywords):
        """Asks for a function or method of the other side."""
        return self.request(*question, args, keywords or None)

    async def call_async(self, question, args, keywords):
        return await self.await_handle("await", self.call(question, args, keywords))

    def ask_handle(self, operation, handle, args=(), keywords=None):
        more = [keywords] if operation == "call" else []
        return self.request("op", operation, handle, tuple(args), *more, roots=handle._apart_roots)

    def get_attribute(self, handle, name):
        is_shown = name in SHOWN or (self.is_judge and name == "__wrapped__") or not SPECIAL.match(name)
        if not is_shown or name.startswith("_apart_"):
            raise AttributeError(name)
        return self.request("op", "getattr", handle, name, roots=handle._apart_roots)


class Gone(CannotCross):
    """The other process has ended."""
