"""The judge's side of the conversation, and a record for each case of what its pass rests on."""

import json
import marshal
import os
import socket
import subprocess
import sys

from apart_code import is_plain
from apart_context import JudgeContext
from apart_handles import Handle
from apart_objects import give_signature
from apart_peer import AT_ONCE, EXIT_AT_ONCE, Gone, Peer
from apart_rules import CannotCross
from apart_wrong import CHANCE, copy_of, perturbed, wrong_operands

# What the code's process is started with; the variables of the tests follow, without those that tell of tests.
NEUTRAL = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR")
# What the code must not know of its run: it would behave otherwise where the tests get wrong values.
SECRET = frozenset(("wrong", "constants", "in_place", "outer", "own", "seed"))
SECONDS = 40  # for one answer
MOST_SEEN = 500  # values that are kept as wrong operands
MOST_PATHS, MOST_PATH = 20, 500  # values in a list, and characters, that may be paths
# What a comparison must not say of wrong operands too.
ANSWER_WRONGLY = {"__eq__": True, "__ne__": False, "__contains__": True}
INJECTIVE = frozenset(("__add__", "__radd__", "__sub__", "__rsub__"))
# What a pass may rest on besides values: arguments changed in place, constants of changed code, its operators.
# Objects that comparisons of their own class compare are built from their arguments.
MISSING = object()
CHANGES, CONSTANTS, OPERATORS, OPERANDS = "changes", "constants", "operators", "operands"
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


class Judge(Peer):
    """The conversation with one code process, which it starts. `codes`: (name, code) of what that process runs."""

    def __init__(self, request, codes, replacements, record):
        ours, theirs = socket.socketpair()
        ours.settimeout(SECONDS)
        names = os.environ if request["aware"] else [name for name in NEUTRAL if name in os.environ]
        environ = {**{name: os.environ[name] for name in names}, "PYTHONHASHSEED": str(request["seed"])}
        self._process = subprocess.Popen(
            [sys.executable, "-s", "-B", "-c", START, str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            cwd=request["root"],
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        theirs.close()
        wire = ours.makefile("rwb")
        super().__init__(True, request, wire)
        self._socket, self._pid, self._record = ours, os.getpid(), record
        self._context = JudgeContext(replacements, request)
        self.broken, self._seen, self._is_tolerant, self._failed = "", [], False, None
        self._applies, self._wrong = request["in_place"], request["wrong"].rstrip("+-")
        self._sign = {"+": 1, "-": -1}.get(request["wrong"][-1:], 0)
        self._start(request, marshal.dumps(codes))

    def _start(self, request, codes):
        try:
            known = {name: value for name, value in request.items() if name not in SECRET}
            self.wire.write(b"%10d" % len(codes) + codes + json.dumps(known).encode() + b"\n")
            self.wire.flush()
            reason = json.loads(self.wire.readline())["reason"]
        except (OSError, ValueError, KeyError, TypeError):
            reason = "the code's process did not start"
        if reason:
            self.give_up(CannotCross(reason))

    def give_up(self, error):
        if self._is_tolerant and not isinstance(error, Gone):
            return
        self.broken = self.broken or str(error)[:300]
        self._record.give_up(self.broken)

    def find(self, module, path):
        """The value that the changed code has under this path; `MISSING` where it cannot cross."""
        return self._try("get", module, path)

    def describe(self, function, module, key, is_bare):
        """Gives a stub the signature that the changed code has, as far as that crosses."""
        try:
            found = self._try("signature", module, key, is_bare)
            if found is not MISSING:
                give_signature(function, *found)
        except Exception:
            pass  # it has none, or the module cannot be imported, which the call will say
        return function

    def get_attribute(self, handle, name):
        if name == "__signature__":
            shown = lambda: None  # noqa: E731
            give_signature(shown, *self.request("signature_of", handle, roots=handle._apart_roots))
            return shown.__signature__
        if name == "__wrapped__":
            return self.request("op", "getattr", handle, name, roots=handle._apart_roots)
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
            try:
                stream.close()
            except (OSError, ValueError):
                pass
        self._process.kill()
        self._process.wait()

    def outgoing(self, encoder):
        return self._context.outgoing(self, encoder)

    def incoming(self, message):
        self._record.ran.update((str(path), int(line)) for path, line in message.get("ran", ()))
        self._context.incoming(self, message)

    # -- what a pass rests on -------------------------------------------------------------------------------------

    def takes_change(self, name):
        self._record.changed.add(name)
        return self._applies

    def takes_class(self, kind):
        return self._is_tolerant or all(map(self.rules.may_be_called, kind.__mro__))

    def changed_value(self, value):
        return self.given(CHANGES, value)

    def changed_items(self, tag, items):
        if self._wrong != CHANGES:
            return items
        wrong = items[: -2 if tag == "d" else -1]
        return wrong if items else [None, None] if tag == "d" else [None]

    def request(self, kind, *values, roots=()):
        try:
            result = super().request(kind, *values, roots=roots)
        except StopIteration:
            if "next" not in str(values[1 if kind in ("method", "call") else 0]):
                self._record.suspect("it raises StopIteration, which ends the loop of another")
            raise
        else:
            self.note_swallowed(self._failed)
            return result
        finally:
            self._failed = None

    def note_raised(self, error):
        if isinstance(error, AssertionError):
            self._failed = error

    def call(self, module, key, is_bare, args, keywords):
        self.note_call(args, keywords)
        return self.request("call", module, key, is_bare, args, keywords)

    def note_swallowed(self, error):
        """Code that keeps a failed assertion from failing its test proves nothing."""
        if isinstance(error, AssertionError):
            self._record.suspect("it swallows a failed assertion")

    def note_shown(self, class_name):
        """An example of a docstring compares what is shown, so an object that shows itself decides over its pass."""
        if self._record.is_shown:
            self._record.give_up("the example shows an object of the new class %s" % class_name)

    def note_call(self, args, keywords):
        self._record.calls += 1
        self._note_values((*args, *keywords.values()))

    def given(self, kind, value):
        """The value, or a wrong one where this run gives the tests wrong ones of this kind."""
        if self._wrong != kind or isinstance(value, Handle):
            return value
        wrong = perturbed(value, 0, self._sign)
        return value if wrong is None else wrong[0]

    def ask_handle(self, operation, handle, args=(), keywords=None):
        result = super().ask_handle(operation, handle, args, keywords)
        if operation == "exit" and result:
            self.note_swallowed(args[1])
        if args and operation not in ("exit", "call", "getitem"):
            self._record.asked.add("%s of an object of the code" % operation)
            return self.given(OPERATORS, result)
        return result

    def _note_values(self, args):
        """Keeps values as wrong operands, and the files of the tests that a test hands over by their path."""
        if len(self._seen) < MOST_SEEN:
            self._seen += [value for value in args if type(value) in (str, int, float, tuple)]
        for value in args:
            if isinstance(value, (str, os.PathLike)):
                self._note_path(value)
            elif type(value) in (list, tuple) and len(value) < MOST_PATHS:
                for each in value:
                    if isinstance(each, (str, os.PathLike)):
                        self._note_path(each)

    def _note_path(self, value):
        try:
            path = os.fspath(value)
            if type(path) is not str or len(path) > MOST_PATH or "\n" in path or path.endswith(".py"):
                return
            path = os.path.realpath(path)
            if path.startswith(self.rules.root) and os.path.exists(path) and self._context.is_hidden(path):
                self._record.lent.add(path[len(self.rules.root) :])
        except (OSError, ValueError, TypeError):
            pass  # it is no path

    def arguments(self, args):
        """The arguments of a constructor of changed code; wrong ones where this run gives objects wrong ones.

        Objects whose values differ must not be equal, whatever the code keeps of them, and wherever it keeps it.
        """
        owner, *rest = args
        wrongs = {place: wrong for place, value in enumerate(rest) if (wrong := perturbed(value, 0)) is not None}
        if not wrongs:
            return args
        self._record.made.add(type(owner).__name__)
        if self._wrong == OPERANDS:
            place = CHANCE.choice([*wrongs])
            rest[place] = wrongs[place][0]
        return (owner, *rest)

    def compare(self, owner, name, args, ask, is_new):
        """A comparison that changed code makes: asked once more with wrong operands, in an order that it cannot know.

        Code proves nothing that says yes to all of them, or finds that equal which differs from the right one where
        the two objects differ. It gets copies, so that it cannot know one that it has met before.
        """
        if len(args) != 2 or (is_new and name != "__contains__" and not isinstance(args[1], type(args[0]))):
            return NotImplemented if is_new else ask(args)
        self._record.asked.add("%s.%s" % (owner, name))
        left, right = args
        wrongs = wrong_operands(left, right, name == "__contains__")
        seen = [(each, False) for each in self._seen if type(each) is type(right) and each != right]
        wrongs += CHANCE.sample(seen, min(2, len(seen)))
        questions = [(wrong, matters) for wrong, matters in wrongs] + [
            (right if left is right else copy_of(right), None)
        ]
        CHANCE.shuffle(questions)
        answers, found = [], None
        for operand, matters in questions:
            answer = ask((left, operand))
            if matters is None:
                found = answer
            else:
                answers.append((_is_yes(answer), matters))
        if name in ANSWER_WRONGLY and answers and _is_yes(found) is ANSWER_WRONGLY[name]:
            same = [matters for is_yes, matters in answers if is_yes is ANSWER_WRONGLY[name]]
            if len(same) == len(answers) or any(same):
                self._record.suspect("%s.%s says the same of wrong values" % (owner, name))
        return self.given(OPERATORS, found)

    def operate(self, owner, name, args, ask):
        """An operator of changed code with an operand of the test.

        A sum or difference that is the same for wrong numbers has not looked at its operand.
        """
        result = ask(args)
        if len(args) < 2 or result is None or not is_plain(result):
            return result  # of an object, what the test asks of it counts
        self._record.asked.add("%s.%s" % (owner, name))
        if name in INJECTIVE and type(args[1]) in (int, float):
            wrongs = [ask((args[0], perturbed(args[1], place)[0])) for place in range(3)]
            if any(type(wrong) is type(result) and is_plain(wrong) and wrong == result for wrong in wrongs):
                self._record.suspect("%s.%s gives the same for wrong values" % (owner, name))
        return self.given(OPERATORS, result)


def _is_yes(answer):
    try:
        return None if answer is NotImplemented else bool(answer)
    except Exception:
        return False


class CaseRecord:
    """Basis of the pass of the current case."""

    def __init__(self):
        self.calls, self.changed, self.unfit, self.suspicious, self.is_shown = 0, set(), "", False, False
        self.asked, self.taken, self.made, self.lent, self.ran = set(), set(), set(), set(), set()

    def suspect(self, reason):
        self.suspicious = True
        self.give_up(reason)

    def give_up(self, reason):
        self.unfit = self.unfit or reason

    def fields(self):
        rests_on = [[CHANGES, name] for name in sorted(self.changed)]
        rests_on += [[CONSTANTS, name] for name in sorted(self.taken)]
        rests_on += [[OPERATORS, name] for name in sorted(self.asked)]
        compared = {name.partition(".")[0] for name in self.asked if name.endswith((".__eq__", ".__ne__"))}
        rests_on += [[OPERANDS, "the arguments of %s" % name] for name in sorted(self.made & compared)]
        places = {"lent": sorted(self.lent), "ran": sorted(map(list, self.ran))}
        return {"calls": self.calls, "rests_on": rests_on, **places, "unfit": self.unfit, "suspicious": self.suspicious}
