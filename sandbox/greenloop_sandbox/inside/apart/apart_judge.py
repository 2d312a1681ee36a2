"""The judge's side: stubs in place of the changed functions, and a record for each case of what its pass rests on."""

import functools
import importlib.abc
import importlib.machinery
import importlib.util
import json
import marshal
import os
import socket
import subprocess
import sys
import types

import pytest
from _pytest import doctest
from apart_assertions import AssertionWatch
from apart_code import EXPORT, Loader, changed_file, find_elsewhere, is_plain, module_spec, new_folder
from apart_codec import Handle
from apart_context import JudgeContext, Replacements
from apart_objects import give_fields, give_signature, make_stub
from apart_peer import AT_ONCE, EXIT_AT_ONCE, Gone, Peer
from apart_rules import COMPARISONS, NO_MIRROR, SPECIAL, CannotCross
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
OF_DATACLASSES = frozenset(("__eq__", "__lt__", "__le__", "__gt__", "__ge__", "__repr__", "__hash__"))
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


class Record:
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


class Conversation:
    """Starts a code process when one is needed, and a new one after one that is of no use any more."""

    def __init__(self, request, codes):
        self.request, self._codes, self._replacements = request, codes, Replacements()
        self._replacements.watch()
        self._peer, self.record = None, Record()

    @property
    def peer(self):
        if self._peer is None:
            self._peer = Judge(self.request, self._codes, self._replacements, self.record)
        return self._peer

    def begin_case(self, item):
        if self._peer is not None and self._peer.broken:
            self.close()
        before, self.record = self.record, Record()
        self.record.taken, self.record.made = before.taken, before.made
        self.record.is_shown = isinstance(item, doctest.DoctestItem)
        self.peer._record = self.record

    def close(self):
        if self._peer is not None:
            self._peer.close()
            self._peer = None

    def plugin(self, send):
        """Makes the plugin that sends the `apart` record of each case."""
        conversation = self

        class ApartReporter:
            @pytest.hookimpl(tryfirst=True)
            def pytest_load_initial_conftests(self):
                conversation.come_first()

            @pytest.hookimpl(hookwrapper=True, tryfirst=True)
            def pytest_runtest_protocol(self, item):
                conversation.begin_case(item)
                yield
                send({"kind": "apart", "id": item.nodeid, **conversation.record.fields()})

            @pytest.hookimpl(hookwrapper=True, trylast=True)
            def pytest_runtest_call(self, item):
                watch = AssertionWatch(getattr(item, "obj", None))
                watch.start()
                outcome = yield
                watch.stop()
                if outcome.excinfo is None and watch.fault():
                    conversation.record.give_up(watch.fault())

            @pytest.hookimpl(trylast=True)
            def pytest_unconfigure(self):
                conversation.close()

        return ApartReporter()

    # -- stubs ----------------------------------------------------------------------------------------------------

    def stub(self, module, key, name, kind, is_bare, function=None, is_new=False):
        """Makes the function that stands for a changed one."""
        make = {"generator": self._generator, "async": self._async, "async generator": self._async_generator}.get(kind)
        make = None if name in COMPARISONS else make  # a coroutine or generator is true
        made = make(module, key, is_bare) if make else self._plain(module, key, name, is_bare, is_new)
        if function is not None:
            return functools.update_wrapper(made, function)
        made.__name__, made.__qualname__, made.__module__ = name, key.split("#")[0], module
        return self.peer.describe(made, module, key, is_bare)

    def _plain(self, module, key, name, is_bare, is_new):
        def ask(args, keywords):
            return self.peer.call(module, key, is_bare, args, keywords)

        return make_stub(name, ask, lambda: self.peer, is_new=is_new)

    def _generator(self, module, key, is_bare):
        def stub(*args, **keywords):
            peer = self.peer
            handle = peer.call(module, key, is_bare, args, keywords)
            if not isinstance(handle, Handle):
                return (yield from handle)
            how, sent = "send", None
            while True:
                ended, item = peer.request("op", "step", handle, how, sent, roots=handle._apart_roots)
                if how == "throw":
                    peer.note_swallowed(sent)
                if ended:
                    return item
                try:
                    how, sent = "send", (yield item)
                except GeneratorExit:
                    peer.request("op", "step", handle, "close", None, roots=handle._apart_roots)
                    raise
                except CannotCross:
                    raise
                except BaseException as error:
                    how, sent = "throw", error

        return stub

    def _async(self, module, key, is_bare):
        async def stub(*args, **keywords):
            peer = self.peer
            peer.note_call(args, keywords)
            return await peer.request_async("call", module, key, is_bare, args, keywords)

        return stub

    def _async_generator(self, module, key, is_bare):
        async def stub(*args, **keywords):
            peer = self.peer
            handle = peer.call(module, key, is_bare, args, keywords)
            while True:
                ended, item = await peer.request_async("anext", handle, roots=handle._apart_roots)
                if ended:
                    return
                yield item

        return stub

    # -- modules --------------------------------------------------------------------------------------------------

    def install(self):
        """From now on the changed modules are imported with stubs."""
        self._finder = _Finder(self)
        sys.meta_path.insert(0, self._finder)

    def come_first(self):
        """Puts the finder before pytest's, which rewrites the assertions of the files that it was named."""
        sys.meta_path.remove(self._finder)
        sys.meta_path.insert(0, self._finder)

    def finish(self, module, changes):
        """Brings a module of the user's own in line with the change: what is new, gone, or has another value."""
        name, before = module.__name__, set(vars(module))
        for path in changes["removed"]:
            owner = _owner(module, path)
            if owner is not None and path.split(".")[-1] in vars(owner):
                delattr(owner, path.split(".")[-1])
        for key, new in changes["new"].items():
            self._add_function(module, key, new)
        for path in changes["touched"]:
            self._touch(module, path)
        for path in changes["classes"]:
            owner = _owner(module, path)
            kind = self.peer.find(name, path) if owner is not None else None
            if isinstance(kind, type):
                setattr(owner, path.split(".")[-1], kind)
        for constant in changes["constants"]:
            self.bind(module, constant)
        self.keep_names(module, before)

    def keep_names(self, module, before):
        """Lets what is new in a module hide nothing that tests have from elsewhere, where they import all of it."""
        hiding = (set(vars(module)) - before).intersection(self.request["kept"])
        if hiding:
            names = getattr(module, "__all__", [name for name in vars(module) if not name.startswith("_")])
            module.__all__ = [name for name in names if name not in hiding]

    def bind(self, module, key):
        """Gives a module a name that the changed code binds: a stub where it can be called, else its value."""
        value = self.peer.find(module.__name__, key)
        if value is MISSING and self.peer.request("describes", module.__name__, key):
            return
        if value is MISSING or isinstance(value, types.FunctionType) or (isinstance(value, Handle) and callable(value)):
            made = self.stub(module.__name__, key, key, "plain", False, is_new=True)
            setattr(module, key, self._with_attributes(made, module.__name__, key))
        elif isinstance(value, (type, types.ModuleType, types.BuiltinFunctionType)):
            setattr(module, key, value)
        elif self.request["constants"]:
            self._take(module, key, value)

    def _take(self, owner, key, value):
        """Gives a module or class of the user's own a constant of the changed code."""
        setattr(owner, key, self.peer.given(CONSTANTS, value))
        self.record.taken.add("the constant %s.%s" % (owner.__name__, key))

    def _with_attributes(self, made, module, path):
        """Gives the stub of a decorated function what its decorator has added, such as `cache_info`."""
        for name in self.peer.request("added", module, path):
            value = self.peer.find(module, path + "." + str(name))
            if value is not MISSING:
                setattr(made, str(name), value)
        return made

    def _add_function(self, module, key, new):
        path = new["qualname"]
        owner, last, wrapper = _owner(module, path), path.split(".")[-1], new["decorator"]
        if owner is None:
            return
        is_bare = wrapper is not None
        if not is_bare and isinstance(owner, type) and self.peer.request("describes", module.__name__, path):
            # Such as `cached_property`: not called, but asked for.
            setattr(owner, last, property(lambda this: self.peer.request("attribute", this, last)))
            return
        made = self.stub(
            module.__name__,
            key if is_bare else path,
            last,
            new["kind"] if is_bare else "plain",
            is_bare,
            is_new=last not in vars(owner),
        )
        made = made if is_bare else self._with_attributes(made, module.__name__, path)
        wrap = {"property": property, "classmethod": classmethod, "staticmethod": staticmethod}.get(wrapper)
        if wrapper in ("setter", "deleter"):
            wrap = getattr(vars(owner).get(last), wrapper, None)
        setattr(owner, last, wrap(made) if wrap else made)
        if last == "__eq__" and "__hash__" not in vars(owner) and isinstance(owner, type):
            owner.__hash__ = None

    def _touch(self, module, path):
        """A class whose body, bases or decorators changed: its state is made by the code, so its methods are asked."""
        owner = _owner(module, path + ".")
        if not isinstance(owner, type):
            return
        name, is_dataclass = module.__name__, "__dataclass_fields__" in vars(owner)
        abstract, decides, fields = self.peer.request("shape", name, path)
        give_fields(owner, fields)
        if abstract:
            owner.__abstractmethods__ = frozenset(map(str, abstract))
        if decides:
            owner.__setattr__ = lambda this, key, value: self.peer.request("set", this, key, value)
        if "__init__" in vars(owner):
            owner.__init__ = self.stub(name, path + ".__init__", "__init__", "plain", False, vars(owner)["__init__"])
        for key in self.peer.request("functions", name, path):
            is_missing = key not in vars(owner) or (is_dataclass and key in OF_DATACLASSES)
            if type(key) is str and is_missing and key not in NO_MIRROR:
                setattr(owner, key, self.stub(name, path + "." + key, key, "plain", False, is_new=True))
        attributes = self.peer.request("attributes", name, path) if self.request["constants"] else {}
        for key, value in attributes.items():
            if type(key) is str and not SPECIAL.match(key) and is_plain(value) and vars(owner).get(key, owner) != value:
                self._take(owner, key, value)


class _Finder(importlib.abc.MetaPathFinder):
    """Finds changed modules of the user's own, to be loaded with stubs, and new ones, which exist in the code alone."""

    def __init__(self, conversation):
        self._conversation, root = conversation, conversation.request["root"]
        changes = conversation.request["modules"].items()
        self._changes = {os.path.realpath(os.path.join(root, path)): each for path, each in changes}

    def find_spec(self, name, path=None, target=None):
        others = [
            each for each in sys.meta_path if each is not self and type(each).__name__ != "AssertionRewritingHook"
        ]
        found = find_elsewhere(others, name, path, target)
        origin = os.path.realpath(found.origin) if found is not None and found.origin else ""
        changed = changed_file(name, path, self._changes)
        if changed and self._changes[changed]["is_new"] and not origin:  # it takes the place of nothing that exists
            return self._spec(name, changed, self._changes[changed])
        if found is None:
            return new_folder(name, path, self._changes)
        changes = self._changes.get(origin)
        return None if changes is None else self._spec(name, origin, changes)

    def _spec(self, name, path, changes):
        if changes["is_new"]:
            is_package, loader = path.endswith("/__init__.py"), _NewModule(self._conversation)
            return importlib.machinery.ModuleSpec(name, loader, origin=path, is_package=is_package)
        conversation = self._conversation

        def export(module):
            def note(key):
                def decorate(function):
                    change = changes["stubs"][key]
                    made = conversation.stub(module.__name__, key, function.__name__, change["kind"], True, function)
                    is_other = change.get("is_other")
                    return conversation.peer.describe(made, module.__name__, key, True) if is_other else made

                return decorate

            return note

        loader = _OwnLoader(
            name, path, set(changes["stubs"]), export, lambda module: conversation.finish(module, changes)
        )
        loader.fallback = _NewModule(conversation)
        return module_spec(name, path, loader)


class _OwnLoader(Loader):
    """Loads a module of the user's own; one that raises is taken from the code as a whole, as a new one is."""

    fallback = None

    def exec_module(self, module):
        vars(module)[EXPORT] = self._export(module)
        try:
            importlib.machinery.SourceFileLoader.exec_module(self, module)
        except Exception:
            self.fallback.exec_module(module)
        else:
            self._finish(module)


class _NewModule(importlib.abc.Loader):
    """A module that the user's own code does not have: each name is what the code's process has under it."""

    def __init__(self, conversation):
        self._conversation = conversation

    def create_module(self, _spec):
        return None

    def exec_module(self, module):
        conversation, name = self._conversation, module.__name__
        if module.__spec__.submodule_search_locations is not None:
            module.__path__ = [os.path.dirname(module.__spec__.origin)]
        for key in conversation.peer.request("names", name):
            if type(key) is str and not SPECIAL.match(key):
                conversation.bind(module, key)
        conversation.keep_names(module, set())


class Refusal:
    """The plugin of a run that cannot be put apart."""

    def __init__(self, reason, send):
        self._reason, self._send = reason, send

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logstart(self, nodeid):
        record = Record()
        record.unfit = self._reason
        self._send({"kind": "apart", "id": nodeid, **record.fields()})


def _owner(module, path):
    """The module or class that holds what has this path; None where it does not exist."""
    owner = module
    for name in path.split(".")[:-1]:
        owner = vars(owner).get(name)
        if owner is None or not hasattr(owner, "__dict__"):
            return None
    return owner


def _is_yes(answer):
    try:
        return None if answer is NotImplemented else bool(answer)
    except Exception:
        return False


def start(request, codes, root, scratch, sandbox_folder, complete):
    """Makes the conversation of a run, before anything of the project is imported: (it or None, why there is none)."""
    try:
        request = complete(request, root)
    except (SyntaxError, ValueError) as error:
        return None, "the changed text cannot be parsed (%s)" % error
    visible = [os.path.join(root, path) for path in request["visible"]]
    hidden = [*(os.path.join(root, path) for path in request["hidden"]), sandbox_folder]
    conversation = Conversation(dict(request, hidden=hidden, visible=visible, writable=[scratch]), codes)
    conversation.install()
    return conversation, ""
