"""Split oracle: pytest and its assertions in one process, the candidate's modules in another.

The worker (T) forks a process (C) before it knows the report's key. C is restricted (`oracle_seccomp.py`), has none of
T's descriptors but two pipes, and cannot read T's memory. In T a stand-in takes the place of each module of C: calling
a function of it runs it in C, and the result is rebuilt from plain data, by exact type (`oracle_codec.py`): None, bool,
int, float, str, bytes, list, tuple, set, frozenset, dict, and built-in exceptions. So no object and no code of the
candidate is ever in T, where the comparisons are made.

Nothing else can cross: objects, generators, callbacks, arguments changed in place, a test that patches the module.
A run that needs them proves nothing about the candidate; `unfit` gives the reason.
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

TEXT_LENGTH = 2000
PR_SET_DUMPABLE, PR_SET_PDEATHSIG = 4, 1


# -- the candidate's process ------------------------------------------------------------------------------------


def start_oracle(request, siblings):
    """Forks C and returns T's side of it. Called before the report's key is taken from the request."""
    codec = siblings["oracle_codec"]
    _prctl(PR_SET_DUMPABLE, 0)  # from now on no process of the same user can read T's memory
    questions_in, questions_out = os.pipe()
    answers_in, answers_out = os.pipe()
    pid = os.fork()
    if pid == 0:
        request["key"] = ""
        try:
            _close_all_but(questions_in, answers_out)
            _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            locked = siblings["oracle_seccomp"].lock_process()
            codec.send(answers_out, {"locked": locked})
            if locked:
                _serve_questions(questions_in, answers_out, codec)
        finally:
            os._exit(0)
    os.close(questions_in)
    os.close(answers_out)
    return Oracle(request["oracle"], pid, questions_out, answers_in, codec)


def _close_all_but(*descriptors):
    for name in os.listdir("/proc/self/fd"):
        if int(name) > 2 and int(name) not in descriptors:
            try:
                os.close(int(name))
            except OSError:
                pass  # the descriptor of the listing itself
    null = os.open(os.devnull, os.O_RDWR)
    for fd in range(3):
        os.dup2(null, fd)
    os.close(null)


def _serve_questions(questions, answers, codec):
    while True:
        try:
            question = codec.receive(questions)
        except (EOFError, OSError):
            return
        try:
            reply = _answer_question(*question, codec)
        except codec.CannotCrossError as error:
            reply = {"unfit": str(error)}
        except BaseException as error:
            reply = _encode_exception(error, codec)
        try:
            codec.send(answers, reply)
        except (codec.CannotCrossError, RecursionError) as error:
            codec.send(answers, {"unfit": str(error)})


def _answer_question(kind, module, name, values, codec):
    if kind == "import":
        sys.path[:] = codec.decode(values)
        __import__(module)
        return {"value": None}
    value = getattr(sys.modules[module], name)
    if kind == "get":
        return {"callable": True} if callable(value) else {"value": codec.encode(value)}
    args, keywords = codec.decode(values)
    return {"value": codec.encode(value(*args, **keywords))}


def _encode_exception(error, codec):
    try:
        args = codec.encode(list(error.args))
    except (codec.CannotCrossError, RecursionError):
        args = codec.encode([str(error)[:TEXT_LENGTH]])
    return {"raised": [base.__name__ for base in type(error).__mro__], "args": args}


# -- the test's process -----------------------------------------------------------------------------------------


class Oracle:
    """T's side. `calls` counts the answered calls; `unfit` is empty while every value could cross."""

    def __init__(self, names, pid, questions_out, answers_in, codec):
        self.calls, self.unfit = 0, ""
        self._names, self._pid, self._owner_pid = frozenset(names), pid, os.getpid()
        self._questions_out, self._answers_in = questions_out, answers_in
        self._lock, self._codec = threading.Lock(), codec
        self._exception_types = {
            name: exception_type
            for name, exception_type in vars(builtins).items()
            if isinstance(exception_type, type) and issubclass(exception_type, (Exception, SystemExit))
        }
        try:
            locked = codec.receive(answers_in)["locked"]
        except (EOFError, OSError, ValueError, KeyError, TypeError):
            locked = False
        if locked is not True:
            self.unfit = "this machine has no lock for the candidate's process"

    def install_stand_ins(self):
        """Replaces the modules by stand-ins; from now on their files are never loaded in this process."""
        sys.meta_path.insert(0, _Finder(self, self._names))
        file_endings = tuple(
            "/" + name.replace(".", "/") + ending for name in self._names for ending in (".py", "/__init__.py")
        )
        loader = importlib.machinery.SourceFileLoader
        get_code = loader.get_code

        def get_guarded_code(this_loader, fullname):
            if this_loader.path.replace(os.sep, "/").endswith(file_endings):
                self.give_up("%s was imported by another name" % fullname)
            return get_code(this_loader, fullname)

        loader.get_code = get_guarded_code

    def plugin(self, send_record):
        """Makes the plugin that sends the `oracle` record at the end of the session."""
        oracle = self

        class OracleReporter:
            def pytest_sessionfinish(self):
                send_record({"kind": "oracle", "calls": oracle.calls, "unfit": oracle.unfit})

        return OracleReporter()

    def close(self):
        os.close(self._questions_out)
        os.close(self._answers_in)
        try:
            os.kill(self._pid, signal.SIGKILL)
            os.waitpid(self._pid, 0)
        except OSError:
            pass  # gone already

    def give_up(self, why):
        self.unfit = self.unfit or why[:TEXT_LENGTH]
        raise self._codec.CannotCrossError(why)

    def ask(self, kind, module, name, values=None):
        """Asks C and returns its answer. Raises what the candidate raised, if it is a built-in exception."""
        if self.unfit or os.getpid() != self._owner_pid:
            self.give_up(self.unfit or "a forked process asked")
        try:
            error, value = self._exchange(kind, module, name, values)
        except self._codec.CannotCrossError as problem:
            self.give_up(str(problem))
        except (EOFError, OSError, ValueError, RecursionError):
            self.give_up("the candidate's process is gone")
        self.calls += kind == "call"
        if error is not None:
            raise error
        return value

    def _exchange(self, kind, module, name, values):
        """Sends one question to C: (the exception raised or None, the value)."""
        codec = self._codec
        with self._lock:
            codec.send(self._questions_out, [kind, module, name, codec.encode(values)])
            answer = codec.receive(self._answers_in)
        if type(answer) is not dict or "unfit" in answer:
            raise codec.CannotCrossError(str(answer["unfit"]) if type(answer) is dict else "an answer of unknown form")
        if kind == "get" and answer.get("callable") is True:
            return None, self._make_function(module, name)
        if "raised" in answer:
            return self._decode_exception(answer), None
        return None, codec.decode(answer.get("value"))

    def _decode_exception(self, answer):
        args = self._codec.decode(answer.get("args"))
        for name in answer["raised"] if type(answer["raised"]) is list else ():
            exception_type = self._exception_types.get(name) if type(name) is str else None
            if exception_type is not None:
                try:
                    return exception_type(*args)
                except (TypeError, ValueError):
                    break
        raise self._codec.CannotCrossError("an exception of unknown form")

    def _make_function(self, module, name):
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
    """Stands in for a module of C. Each access asks C for the attribute; it cannot be patched."""

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
