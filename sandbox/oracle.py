"""The split oracle: pytest and its assertions in one process, the candidate's modules in another.

The worker (T) forks a process (C) before it knows the report's key. C is locked (`jail.py`), has none of T's
descriptors but two pipes, and cannot look into T. In T a module of C is a stand-in: a function read from it has C
compute, and what comes back is rebuilt from plain data, by exact type (`crossing.py`): None, bool, int, float, str,
bytes, list, tuple, set, frozenset, dict, and built-in exceptions. So no object and no code of the candidate is ever in
T, where the comparisons are made.

Everything else does not fit: objects, generators, callbacks, arguments changed in place, a test that patches the
module. Such a run proves nothing, for or against anybody; `unfit` says why.
"""

import builtins
import ctypes
import importlib.abc
import importlib.machinery
import os
import signal
import sys
import threading
import types

TEXT = 2000
PR_SET_DUMPABLE, PR_SET_PDEATHSIG = 4, 1


# -- the candidate's process ------------------------------------------------------------------------------------


def start(request, parts):
    """Forks C; returns T's side of it. Called before the report's key is taken from the request."""
    crossing = parts["crossing"]
    _prctl(PR_SET_DUMPABLE, 0)  # from now on nobody of the same user looks into T
    questions, ask = os.pipe()
    answers, answer = os.pipe()
    pid = os.fork()
    if pid == 0:
        request["key"] = ""
        try:
            _keep_only(questions, answer)
            _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            locked = parts["jail"].lock()
            crossing.send(answer, {"locked": locked})
            if locked:
                _serve(questions, answer, crossing)
        finally:
            os._exit(0)
    os.close(questions)
    os.close(answer)
    return Oracle(request["oracle"], pid, ask, answers, crossing)


def _keep_only(*kept):
    for name in os.listdir("/proc/self/fd"):
        if int(name) > 2 and int(name) not in kept:
            try:
                os.close(int(name))
            except OSError:
                pass  # the descriptor of the listing itself
    null = os.open(os.devnull, os.O_RDWR)
    for fd in range(3):
        os.dup2(null, fd)
    os.close(null)


def _serve(questions, answer, crossing):
    while True:
        try:
            question = crossing.receive(questions)
        except (EOFError, OSError):
            return
        try:
            reply = _answer(*question, crossing)
        except crossing.Unfit as error:
            reply = {"unfit": str(error)}
        except BaseException as error:
            reply = _raised(error, crossing)
        try:
            crossing.send(answer, reply)
        except (crossing.Unfit, RecursionError) as error:
            crossing.send(answer, {"unfit": str(error)})


def _answer(what, module, name, values, crossing):
    if what == "import":
        sys.path[:] = crossing.decode(values)
        __import__(module)
        return {"value": None}
    found = getattr(sys.modules[module], name)
    if what == "get":
        return {"callable": True} if callable(found) else {"value": crossing.encode(found)}
    args, keywords = crossing.decode(values)
    return {"value": crossing.encode(found(*args, **keywords))}


def _raised(error, crossing):
    try:
        args = crossing.encode(list(error.args))
    except (crossing.Unfit, RecursionError):
        args = crossing.encode([str(error)[:TEXT]])
    return {"raised": [kind.__name__ for kind in type(error).__mro__], "args": args}


# -- the test's process -----------------------------------------------------------------------------------------


class Oracle:
    """T's side. `calls` have come back with an answer; `unfit` is empty while everything has fitted."""

    def __init__(self, names, pid, ask, answers, crossing):
        self.calls, self.unfit = 0, ""
        self._names, self._pid, self._owner = frozenset(names), pid, os.getpid()
        self._ask, self._answers, self._lock, self._crossing = ask, answers, threading.Lock(), crossing
        self._known = {
            name: kind
            for name, kind in vars(builtins).items()
            if isinstance(kind, type) and issubclass(kind, (Exception, SystemExit))
        }
        try:
            locked = crossing.receive(answers)["locked"]
        except (EOFError, OSError, ValueError, KeyError, TypeError):
            locked = False
        if locked is not True:
            self.unfit = "this machine has no lock for the candidate's process"

    def stand_in(self):
        """From now on the modules are stand-ins, and their files are never loaded in this process."""
        sys.meta_path.insert(0, _Finder(self, self._names))
        ends = tuple("/" + name.replace(".", "/") + end for name in self._names for end in (".py", "/__init__.py"))
        loader = importlib.machinery.SourceFileLoader
        get_code = loader.get_code

        def guarded(this, fullname):
            if this.path.replace(os.sep, "/").endswith(ends):
                self.give_up("%s was imported by another name" % fullname)
            return get_code(this, fullname)

        loader.get_code = guarded

    def plugin(self, send_record):
        """Says at the end of the session how it went."""
        oracle = self

        class Told:
            def pytest_sessionfinish(self):
                send_record({"kind": "oracle", "calls": oracle.calls, "unfit": oracle.unfit})

        return Told()

    def close(self):
        os.close(self._ask)
        os.close(self._answers)
        try:
            os.kill(self._pid, signal.SIGKILL)
            os.waitpid(self._pid, 0)
        except OSError:
            pass  # gone already

    def give_up(self, why):
        self.unfit = self.unfit or why[:TEXT]
        raise self._crossing.Unfit(why)

    def ask(self, what, module, name, values=None):
        """C's answer. Raises what the candidate raised, if it is a built-in exception."""
        if self.unfit or os.getpid() != self._owner:
            self.give_up(self.unfit or "a forked process asked")
        try:
            error, found = self._answered(what, module, name, values)
        except self._crossing.Unfit as problem:
            self.give_up(str(problem))
        except (EOFError, OSError, ValueError, RecursionError):
            self.give_up("the candidate's process is gone")
        self.calls += what == "call"
        if error is not None:
            raise error
        return found

    def _answered(self, what, module, name, values):
        """(what was raised or None, the value)."""
        crossing = self._crossing
        with self._lock:
            crossing.send(self._ask, [what, module, name, crossing.encode(values)])
            answer = crossing.receive(self._answers)
        if type(answer) is not dict or "unfit" in answer:
            raise crossing.Unfit(str(answer["unfit"]) if type(answer) is dict else "an answer of no known form")
        if what == "get" and answer.get("callable") is True:
            return None, self._function(module, name)
        if "raised" in answer:
            return self._exception(answer), None
        return None, crossing.decode(answer.get("value"))

    def _exception(self, answer):
        args = self._crossing.decode(answer.get("args"))
        for name in answer["raised"] if type(answer["raised"]) is list else ():
            kind = self._known.get(name) if type(name) is str else None
            if kind is not None:
                try:
                    return kind(*args)
                except (TypeError, ValueError):
                    break
        raise self._crossing.Unfit("an exception of no known form")

    def _function(self, module, name):
        def function(*args, **keywords):
            return self.ask("call", module, name, (list(args), keywords))

        function.__name__ = function.__qualname__ = name
        function.__module__ = module
        return function


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self, oracle, names):
        self._oracle, self._names = oracle, names

    def find_spec(self, fullname, _path=None, _target=None):
        return importlib.machinery.ModuleSpec(fullname, self) if fullname in self._names else None

    def create_module(self, spec):
        return _StandIn(spec.name)

    def exec_module(self, module):
        self._oracle.ask("import", module.__name__, "", list(sys.path))
        vars(module)["__oracle__"] = self._oracle


class _StandIn(types.ModuleType):
    """A module of C. Its names are asked for each time; it cannot be patched."""

    def __getattr__(self, name):
        oracle = vars(self).get("__oracle__")
        if oracle is None or name.startswith("__"):
            raise AttributeError("module %r has no attribute %r" % (self.__name__, name))
        return oracle.ask("get", self.__name__, name)

    def __setattr__(self, name, value):
        if "__oracle__" in vars(self):
            self.__oracle__.give_up("%s.%s was patched" % (self.__name__, name))
        super().__setattr__(name, value)

    def __delattr__(self, name):
        self.__oracle__.give_up("%s.%s was patched" % (self.__name__, name))


def _prctl(option, value):
    try:
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)
    except (OSError, AttributeError):
        pass
