"""Puts stubs in place of the changed functions, and starts the conversation with the process that has them."""

import builtins
import enum
import functools
import inspect
import linecache
import os
import sys
import types

import apart_assertions
import apart_rewriting
import apart_sources
import pytest
from _pytest import doctest, tmpdir
from apart_constructions import Constructions
from apart_evidence import CONSTANTS, CaseRecord
from apart_executions import Executions
from apart_expected import parts_of, weaker_names
from apart_handles import Handle
from apart_judge import MISSING, Judge
from apart_modules import JudgeFinder
from apart_objects import HAVE_CODE, WRAP, is_stub, make_stub
from apart_replaced import Replacements
from apart_rules import NO_MIRROR, SPECIAL, is_plain
from apart_signatures import fields_of, give_fields, hooks_of

OF_DATACLASSES = frozenset(("__eq__", "__lt__", "__le__", "__gt__", "__ge__", "__repr__", "__hash__"))


class Separation:
    """The plugin of a run apart: starts a code process, and a new one after one that is of no use any more."""

    def __init__(self, request, codes, send):
        self.request, self._codes, self._send, self._replacements = request, codes, send, Replacements()
        self._weaker = set()  # names by which a test expects less than it did
        self._replacements.watch()
        tmpdir._mk_tmp = lambda _request, factory: factory.mktemp("folder", numbered=True)  # no test's name
        self._peer, self._finder = None, JudgeFinder(self)
        self._constructions = Constructions(request["wrong"], self._is_changed)
        self.record = CaseRecord(apart_assertions.Operands(request["wrong"], self._constructions))
        self._shared = self.record  # by more than one case: of imports, and of fixtures that outlive a case
        Executions(lambda: self._peer)
        if request["operands"]:
            apart_rewriting.rewrite_all()
            setattr(builtins, apart_rewriting.NOTE, self.record.operands)  # modules assert before there is a case
        sys.meta_path.insert(0, self._finder)

    @property
    def peer(self):
        if self._peer is None:
            self._peer = Judge(self.request, self._codes, self._replacements, self.record)
        return self._peer

    def _begin_case(self, item):
        if self._peer is not None and self._peer.broken:
            self.pytest_unconfigure()
        operands = apart_assertions.Operands(self.request["wrong"], self._constructions)
        operands.number_of = lambda value: found if (found := self.peer.numbers.get(id(value), ""))[:1] == "j" else ""
        self._shared.taken |= self.record.taken
        self.record = CaseRecord(operands, self._shared)
        self.record.is_shown = isinstance(item, doctest.DoctestItem)
        self.peer._record, self.peer.starts_program, self.peer._looks = self.record, False, 0
        setattr(builtins, apart_rewriting.NOTE, self.record.operands)

    def _is_changed(self, kind):
        """Has the code a part in a class of the user's? None of any other class."""
        rules = self.peer.rules
        if not rules.is_own(kind) or rules.is_test_module(kind.__module__) or issubclass(kind, enum.Enum):
            return None
        held = [each for base in kind.__mro__ if rules.is_own(base) for each in vars(base).values()]
        return id(kind) in rules.made or any(map(is_stub, held))

    # -- hooks ----------------------------------------------------------------------------------------------------

    @pytest.hookimpl(tryfirst=True)
    def pytest_load_initial_conftests(self):
        """Puts the finder before pytest's, which rewrites the assertions of the files that it was named."""
        sys.meta_path.remove(self._finder)
        sys.meta_path.insert(0, self._finder)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item):
        self._begin_case(item)
        yield
        self._send({"kind": "apart", "id": item.nodeid, **self.record.fields()})

    @pytest.hookimpl(hookwrapper=True)
    def pytest_fixture_setup(self, fixturedef):
        yield
        if fixturedef.scope != "function":
            self._shared.inherit(self.record)

    @pytest.hookimpl(hookwrapper=True, trylast=True)
    def pytest_runtest_call(self, item):
        watch = apart_assertions.AssertionWatch(getattr(item, "obj", None), self.peer.rules.is_test_module)
        watch.start()
        outcome = yield
        watch.stop()
        program = "it starts a program, which runs without the change" * self.peer.starts_program
        self.record.give_up(watch.fault() if outcome.excinfo is None else program)
        text = "".join(linecache.getlines(str(item.path))) if self._weaker and outcome.excinfo is None else ""
        for name in self._weaker & apart_sources.named(text):
            self.record.give_up("%s, which the test expects, has come to stand for more" % name)

    @pytest.hookimpl(trylast=True)
    def pytest_unconfigure(self):
        if self._peer is not None:
            self._peer.close()
            self._peer = None

    # -- stubs ----------------------------------------------------------------------------------------------------

    def stub(self, module, key, kind=None, function=None, is_new=False):
        """Makes the function that stands for a changed one; without `kind`, for one as its decorators have left it."""
        name, is_bare = key.partition("#")[0], kind is not None
        question = ("call", module, key, is_bare)
        made = make_stub(lambda: self.peer, lambda: question, name.rpartition(".")[2], kind, is_new=is_new)
        if function is not None:
            return functools.update_wrapper(made, function)
        made.__qualname__, made.__module__ = name, module
        return self.peer.describe(made, module, key, is_bare)

    # -- modules --------------------------------------------------------------------------------------------------

    def finish(self, module, changes):
        """Brings a module of the user's own in line with the change: what is new, gone, or has another value."""
        name, own = module.__name__, dict(vars(module))
        parts = {key: parts_of(value) for key, value in own.items()}
        before = set(own)
        for path in changes["removed"]:
            owner, last = _owner(module, path)
            if last in getattr(owner, "__dict__", ()):
                delattr(owner, last)
        for key, new in changes["new"].items():
            self._add_function(module, key, new)
        for path in changes["touched"]:
            self._touch(module, path)
        for path in changes["classes"]:
            owner, last = _owner(module, path)
            kind = self.peer.find(name, path) if owner is not None else None
            if isinstance(kind, type):
                setattr(owner, last, kind)
        for constant in changes["constants"]:
            self.bind(module, constant)
        for hiding in (set(vars(module)) - before).intersection(vars(builtins)):
            if ">>>" in inspect.getsource(module):
                delattr(module, hiding)  # its examples ask for Python's
        self.keep_names(module, before)
        for kind in vars(module).values() if self.request["operands"] else ():
            self._constructions.watch(kind)
        self._weaker.update(weaker_names(own, parts, vars(module), self.peer.rules.is_own))

    def keep_names(self, module, before):
        """Lets what is new in a module hide nothing that tests have from elsewhere, where they import all of it."""
        hiding = (set(vars(module)) - before).intersection(self.request["kept"])
        if hiding:
            names = getattr(module, "__all__", [name for name in vars(module) if not name.startswith("_")])
            module.__all__ = [name for name in names if name not in hiding]

    def bind(self, module, key):
        """Gives a module a name that the changed code binds: a stub where it can be called, else its value."""
        value = self.peer.find(module.__name__, key)
        is_function = isinstance(value, types.FunctionType) or (isinstance(value, Handle) and callable(value))
        if value is MISSING or is_function:
            names = self.peer.request("outside", module.__name__, key)
            if names is not None:
                made = self.stub(module.__name__, key, is_new=True)
                setattr(module, key, self._with_attributes(made, names, key))
        elif isinstance(value, (type, types.ModuleType, types.BuiltinFunctionType)):
            setattr(module, key, value)
        elif self.request["constants"]:
            self._take(module, key, value)

    def _take(self, owner, key, value):
        """Gives a module or class of the user's own a constant of the changed code."""
        setattr(owner, key, self.peer.given(CONSTANTS, value))
        self.record.taken.add("the constant %s.%s" % (owner.__name__, key))

    def _with_attributes(self, made, names, path):
        """Gives the stub of a decorated function what its decorator has added, such as `cache_info`."""
        for name in names:
            value = self.peer.find(made.__module__, path + "." + str(name))
            if value is not MISSING:
                setattr(made, str(name), value)
        return made

    def _add_function(self, module, key, new):
        path, wrapper = key.partition("#")[0], new["decorator"]
        owner, last = _owner(module, path)
        if owner is None:
            return
        is_bare = wrapper is not None
        names = () if is_bare else self.peer.request("outside", module.__name__, path)
        if names is None and isinstance(owner, type):
            # Such as `cached_property`: not called, but asked for.
            setattr(owner, last, property(lambda this: self.peer.request("op", "getattr", this, last)))
            return
        key, kind = (key, new["kind"]) if is_bare else (path, None)
        made = self.stub(module.__name__, key, kind, is_new=last not in vars(owner))
        self._with_attributes(made, names or (), path)
        wrap = WRAP.get(wrapper or "") or getattr(vars(owner).get(last), wrapper, WRAP[""])  # a setter, a deleter
        setattr(owner, last, wrap(made))
        if last == "__eq__" and "__hash__" not in vars(owner) and isinstance(owner, type):
            owner.__hash__ = None

    def _touch(self, module, path):
        """A class whose body, bases or decorators changed: its state is made by the code, so its methods are asked."""
        owner, _ = _owner(module, path + ".")
        if not isinstance(owner, type):
            return
        name, is_dataclass = module.__name__, "__dataclass_fields__" in vars(owner)
        abstract, decides, fields, hooks, functions, attributes = self.peer.request("shape", name, path)
        is_other = is_dataclass and fields != fields_of(owner)
        give_fields(owner, fields)
        if abstract:
            owner.__abstractmethods__ = frozenset(map(str, abstract))
        if hooks != hooks_of(owner):  # what the user's own code does with subclasses, the judge does itself
            owner.__init_subclass__ = classmethod(lambda kind, **keywords: self._register(owner, kind, keywords))
        if decides:
            owner.__setattr__ = lambda this, key, value: self.peer.request("op", "setattr", this, key, value)
        if "__init__" in vars(owner):
            owner.__init__ = self.stub(name, path + ".__init__", function=vars(owner)["__init__"])
        for key in functions:
            is_missing = key not in vars(owner) or (is_other and key in OF_DATACLASSES)
            if type(key) is str and is_missing and key not in NO_MIRROR:
                setattr(owner, key, self.stub(name, path + "." + key, is_new=True))
        if self.request["constants"]:
            self._take_all(owner, attributes)

    def _register(self, owner, kind, keywords):
        """Asks what the code does with a class of the tests whose base has changed."""
        peer, inherited = self.peer, super(owner, kind).__init_subclass__
        if isinstance(inherited, types.MethodType):
            inherited(**keywords)
        if not peer.rules.is_test_module(kind.__module__):
            return  # the code has its own
        peer.class_keywords[id(kind)] = keywords
        for each, attributes in peer.request("subclass", kind):
            if self.request["constants"] and isinstance(each, type) and issubclass(kind, each):
                self._take_all(each, attributes)

    def _take_all(self, owner, attributes):
        """Gives a class the plain attributes of the code's; none that takes the place of a method."""
        for key, value in attributes.items():
            if type(key) is not str or SPECIAL.match(key) or isinstance(getattr(owner, key, None), HAVE_CODE):
                continue
            if is_plain(value, self.peer.is_class_of_tests) and vars(owner).get(key, owner) != value:
                self._take(owner, key, value)


class Refusal:
    """The plugin of a run that cannot be put apart."""

    def __init__(self, reason, send):
        self._reason, self._send = reason, send

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logstart(self, nodeid):
        record = CaseRecord()
        record.unfit = self._reason
        self._send({"kind": "apart", "id": nodeid, **record.fields()})


def _owner(owner, path):
    """(the module or class that holds what has this path, its name there); None where it does not exist."""
    *names, last = path.split(".")
    for name in names:
        owner = getattr(owner, "__dict__", {}).get(name)
    return owner if hasattr(owner, "__dict__") else None, last


def start(request, codes, root, scratch, sandbox_folder, complete, send):
    """Makes the plugin of a run apart, before anything of the project is imported."""
    try:
        request = complete(request, root)
    except (SyntaxError, ValueError) as error:
        return Refusal("the changed text cannot be parsed (%s)" % error, send)
    visible = [os.path.join(root, path) for path in request["visible"]]
    hidden = [*(os.path.join(root, path) for path in request["hidden"]), sandbox_folder]
    return Separation(dict(request, hidden=hidden, visible=visible, writable=[scratch]), codes, send)
