"""The judge's side of the conversation, and a record for each case of what its pass rests on."""

import contextlib
import json
import marshal
import os
import socket
import subprocess
import sys

from apart_evidence import Evidence
from apart_peer import AT_ONCE, EXIT_AT_ONCE, Gone, Peer
from apart_replaced import JudgeContext
from apart_rules import CannotCross
from apart_signatures import give_signature, make_signature
from apart_tasks import JudgeTasks

# What the code's process is started with; the variables of the tests follow, without those that tell of tests.
NEUTRAL = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "DJANGO_SETTINGS_MODULE")
# What the code must not know of its run: it would behave otherwise where the tests get wrong values.
SECRET = frozenset(("wrong", "constants", "in_place", "outer", "own", "seed", "operands"))
SECONDS = 40  # for one answer
MISSING = object()
# Started without any file of ours on the path; the code arrives through the socket.
START = """
import marshal, os, sys, types
sys.path[:] = [entry for entry in sys.path if entry]
os.environ.pop("PYTHONHASHSEED", None)
fd = int(sys.argv[1])
def read(size):
    data = b""
    while len(data) < size:
        data += os.read(fd, size - len(data))
    return data
for name, code in marshal.loads(read(int(read(10)))):
    module = sys.modules[name] = types.ModuleType(name)
    exec(code, vars(module))
for name in [name for name in sys.modules if name.startswith("apart_")]:
    del sys.modules[name]
module.main(fd)
"""


class Judge(Evidence, JudgeTasks, Peer):
    """The conversation with one code process, which it starts. `codes`: (name, code) of what that process runs."""

    def __init__(self, request, codes, replacements, record):
        ours, theirs = socket.socketpair()
        ours.settimeout(SECONDS)
        names = os.environ if request["aware"] else [name for name in NEUTRAL if name in os.environ]
        environ = {**{name: os.environ[name] for name in names}, "PYTHONHASHSEED": str(request["seed"])}
        command = [sys.executable, "-s", "-B", "-c", START, str(theirs.fileno())]
        how = {"pass_fds": [theirs.fileno()], "cwd": request["root"], "env": environ}
        silent = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
        self._process = subprocess.Popen(command, **how, **silent)
        theirs.close()
        wire = ours.makefile("rwb")
        super().__init__(True, request, wire)
        self._socket, self._pid, self._record = ours, os.getpid(), record
        self._context = JudgeContext(replacements, request)
        self.broken, self._is_tolerant = "", False
        self.prepare(request)
        self.prepare_tasks()
        known = {name: value for name, value in request.items() if name not in SECRET}
        data = marshal.dumps(codes)
        try:
            self.wire.write(b"%10d" % len(data) + data + json.dumps(known).encode() + b"\n")
            self.wire.flush()
            reason = json.loads(self.wire.readline())["reason"]
        except (OSError, ValueError, KeyError, TypeError):
            reason = "the code's process did not start"
        if reason:
            self.give_up(CannotCross(reason))

    def give_up(self, error):
        if not self._is_tolerant or isinstance(error, Gone):
            self.broken = self.broken or str(error)[:300]
            self._record.give_up(self.broken)

    def find(self, module, path):
        """The value that the changed code has under this path; `MISSING` where it cannot cross."""
        return self._try("get", module, path)

    def describe(self, function, module, key, is_bare):
        """Gives a stub the signature that the changed code has, as far as that crosses."""
        with contextlib.suppress(Exception):  # it has none, or the module cannot be imported, which the call will say
            found = self._try("signature", module, key, is_bare)
            if found is not MISSING:
                give_signature(function, *found)
        return function

    def get_attribute(self, handle, name):
        if name == "__signature__":
            return make_signature(*self.request("signature", handle, roots=handle._apart_roots))
        return super().get_attribute(handle, name)

    def _try(self, kind, *values):
        self._is_tolerant = True
        try:
            return self.request(kind, *values)
        except Gone:
            raise
        except CannotCross:
            return MISSING
        finally:
            self._is_tolerant = False

    def begin(self, values, roots):
        if self.broken or os.getpid() != self._pid:
            raise CannotCross(self.broken or "a forked process asked")
        super().begin(values, roots)

    def end(self):
        self.broken = self.broken or AT_ONCE
        self._process.kill()

    def why_gone(self, error):
        try:
            ended = self._process.wait(1)
        except subprocess.TimeoutExpired:
            ended = None
        return self.broken or (AT_ONCE if ended == EXIT_AT_ONCE else super().why_gone(error))

    def close(self):
        for stream in (self.wire, self._socket):
            with contextlib.suppress(OSError, ValueError):
                stream.close()
        self._process.kill()
        self._process.wait()

    async def call_async(self, question, args, keywords):
        self.note_call(question, args, keywords)
        return await self.request_async(*question, args, keywords or None)

    async def await_handle(self, operation, handle, args=()):
        return await self.request_async("op", operation, handle, tuple(args), roots=handle._apart_roots)

    def context_number(self):
        return self._context.tasks.current()

    def steps(self, handle):
        """Runs a generator of the code as one of the judge's."""
        how, sent = "send", None
        while True:
            ended, item = self.request("op", "step", handle, how, sent, roots=handle._apart_roots)
            if ended:
                return item
            try:
                how, sent = "send", (yield self.wholly_wrong(item))
            except GeneratorExit:
                self.request("op", "step", handle, "close", None, roots=handle._apart_roots)
                raise
            except CannotCross:
                raise
            except BaseException as error:
                how, sent = "throw", error

    def outgoing(self, encoder):
        return self._context.outgoing(self, encoder)

    def incoming(self, message):
        self._record.ran.update((str(path), int(line)) for path, line in message.get("ran", ()))
        self._variation.vary(*self._asking[-1], message, self.known)
        self.said.append((message["v"], [*message["o"].values()], message.get("printed")))
        self._context.incoming(self, message)
