"""The code's process: imports the changed modules and answers the judge. No pytest, no tests; argv says nothing."""

import abc
import ast
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import inspect
import json
import linecache
import os
import socket
import sys
import types

from apart_context import CodeContext
from apart_objects import fields_of, signature_of
from apart_peer import EXIT_AT_ONCE, Gone, Peer
from apart_rules import CannotCross
from apart_view import restrict

EXPORT = "__apart_export__"
ABSENT = frozenset(("pytest", "_pytest", "_hypothesis_pytestplugin", "greenloop", "greenloop_sandbox"))
PLAIN_TYPES = frozenset((int, str, float, bool, bytes, type(None), complex))
DEPTH = 5000  # the judge's own limit holds first


def named_nodes(tree):
    """(key, qualified name, node) of each function and class outside of functions; the key numbers equal names.

    Both sides use it.
    """
    counts, found = {}, []

    def walk(nodes, prefix):
        for node in nodes:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                name = prefix + node.name
                number = counts[name] = counts.get(name, -1) + 1
                found.append((name + ("#%d" % number if number else ""), name, node))
                if isinstance(node, ast.ClassDef):
                    walk(node.body, name + ".")
            elif isinstance(node, (ast.If, ast.Try, ast.With)):
                walk(_bodies(node), prefix)

    walk(tree.body, "")
    return found


def _bodies(node):
    for field in ("body", "orelse", "finalbody"):
        yield from getattr(node, field, None) or []
    for handler in getattr(node, "handlers", None) or []:
        yield from handler.body


class Loader(importlib.machinery.SourceFileLoader):
    """Loads a module of the workspace, with an innermost decorator that notes the bare functions of these keys.

    `keys` None: of all. Never from a cache.
    """

    def __init__(self, name, path, keys, export, finish, text=None):
        super().__init__(name, path)
        self._keys, self._export, self._finish, self._own_text = keys, export, finish, text

    def get_data(self, path):
        return super().get_data(path) if self._own_text is None else self._own_text.encode()

    def get_code(self, fullname):
        path = self.get_filename(fullname)
        tree = ast.parse(self.get_data(path), path)
        for key, _, node in named_nodes(tree):
            if not isinstance(node, ast.ClassDef) and (self._keys is None or key in self._keys):
                note = ast.Call(ast.Name(EXPORT, ast.Load()), [ast.Constant(key)], [])
                node.decorator_list.append(ast.fix_missing_locations(ast.copy_location(note, node)))
        return compile(tree, path, "exec", dont_inherit=True)

    def exec_module(self, module):
        vars(module)[EXPORT] = self._export(module)
        super().exec_module(module)
        self._finish(module)


class CodeFinder(importlib.abc.MetaPathFinder):
    """Finds all modules: changed ones by their new texts, others as the finders before it did."""

    def __init__(self, root, files, functions, finders):
        self._root, self._functions, self._finders = root + "/", functions, finders
        self._texts = {os.path.realpath(os.path.join(root, path)): text for path, text in files.items()}
        # On the disk is the user's own text; what code reads of itself (`inspect.getsource`) is the changed one.
        linecache.cache.update(
            (path, (len(text), None, text.splitlines(True), path)) for path, text in self._texts.items() if text
        )

    def after_import(self):
        """Is replaced by what has to happen after each import."""

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ABSENT:
            return None
        changed = changed_file(name, path, self._texts)
        if changed and self._texts[changed] is not None:
            return self._spec(name, changed)
        found = find_elsewhere(self._finders, name, path, target)
        if found is None:
            return new_folder(name, path, self._texts)
        origin = found.origin or ""
        if not origin.startswith(self._root) or not origin.endswith(".py"):
            return found
        return None if self._texts.get(origin, "") is None else self._spec(name, origin)

    def _spec(self, name, path):
        return module_spec(
            name, path, Loader(name, path, None, self._export, lambda _: self.after_import(), self._texts.get(path))
        )

    def _export(self, module):
        def note(key):
            def decorate(function):
                self._functions[module.__name__, key] = function
                return function

            return decorate

        return note


def is_plain(value, counts_too=lambda _: False, depth=0):
    """Whether a value is made of plain data alone, and of what `counts_too`."""
    if depth > 6:
        return False
    if isinstance(value, (list, tuple, set, frozenset)):
        return all(is_plain(each, counts_too, depth + 1) for each in value)
    if isinstance(value, dict):
        return all(is_plain(each, counts_too, depth + 1) for pair in value.items() for each in pair)
    if type(value) in PLAIN_TYPES or type(value).__module__ in ("re", "datetime", "decimal", "fractions"):
        return True
    return counts_too(value)


def changed_file(name, path, changed):
    """The changed file that an import of this name would find first among changed ones, or ""."""
    last = name.rpartition(".")[2]
    for entry in sys.path if path is None else path:
        for ending in ("/__init__.py", ".py"):
            candidate = os.path.join(entry or os.getcwd(), last + ending)
            if candidate in changed or os.path.realpath(candidate) in changed:
                return os.path.realpath(candidate)
    return ""


def module_spec(name, path, loader):
    locations = [os.path.dirname(path)] if path.endswith("/__init__.py") else None
    return importlib.util.spec_from_file_location(name, path, loader=loader, submodule_search_locations=locations)


def new_folder(name, path, changed):
    """The specification of a folder without `__init__.py` that changed files are in; None where there is none."""
    for entry in sys.path if path is None else path:
        folder = os.path.join(os.path.realpath(entry or os.getcwd()), name.rpartition(".")[2])
        if any(file.startswith(folder + os.sep) for file in changed):
            spec = importlib.machinery.ModuleSpec(name, None, is_package=True)
            spec.submodule_search_locations = [folder]
            return spec
    return None


def find_elsewhere(finders, name, path, target):
    """Returns the first specification that these finders find; None without one."""
    for finder in finders:
        found = finder.find_spec(name, path, target) if hasattr(finder, "find_spec") else None
        if found is not None:
            return found
    return None


class Code(Peer):
    """Answers the judge's questions. `functions` are the bare functions of the workspace by (module, key)."""

    def __init__(self, request, wire, functions):
        super().__init__(False, request, wire)
        self._functions, self.context = functions, CodeContext(request)
        self.context.start()
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
        return self.context.contexts.run(super().answer, kind, values)

    def serve_question(self, kind, values):
        if kind == "call":
            module, key, is_bare, args, keywords = *values[:-1], values[-1] or {}
            importlib.import_module(module)
            function = self._functions[module, key] if is_bare else self._decorated(module, key)
            with self._lines:
                return _run(function(*args, **keywords)) if _is_async(function) else function(*args, **keywords)
        if kind == "run":
            return _run(values[0])
        if kind == "anext":
            return _run(_next_of(values[0]))
        if kind == "get":
            return self._find(*values)
        if kind == "signature":
            module, key, is_bare = values
            importlib.import_module(module)
            return signature_of(self._functions[module, key] if is_bare else self._decorated(module, key))
        if kind == "signature_of":
            return signature_of(values[0])
        if kind == "describes":
            owner, _, name = values[1].rpartition(".")
            return not callable(vars(self._find(values[0], owner)).get(name, callable))
        if kind == "attribute":
            return getattr(values[0], values[1])
        if kind == "shape":
            return _shape(self._find(*values))
        if kind == "set":
            setattr(*values)
            return None
        if kind == "added":
            found = self._find(*values)
            names = dir(found) if callable(found) and not isinstance(found, type) else ()
            return [name for name in names if not name.startswith("_")]
        if kind == "functions":
            return [name for name, value in vars(self._find(*values)).items() if isinstance(value, types.FunctionType)]
        if kind == "attributes":
            return self._attributes(self._find(*values))
        if kind == "refused":
            raise values[0]
        if kind == "subclass":
            return [[each, self._attributes(each)] for each in values[0].__mro__ if self.rules.is_mirrored(each)]
        if kind == "names":
            module = importlib.import_module(values[0])
            return [name for name in vars(module) if not (name.startswith("__") and name.endswith("__"))]
        raise CannotCross("an unknown question")

    def _attributes(self, kind):
        return {name: value for name, value in vars(kind).items() if is_plain(value, self.is_class_of_tests)}

    @staticmethod
    def _find(module, path):
        found = importlib.import_module(module)
        for name in path.split(".") if path else ():
            found = getattr(found, name)
        return found

    @staticmethod
    def _decorated(module, path):
        found = sys.modules[module]
        for name in path.split("."):
            raw = vars(found).get(name) if isinstance(found, type) else None
            found = raw.fget if isinstance(raw, property) else getattr(found, name)
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
    """[abstract methods, whether it guards attributes, fields of a dataclass, whether it registers subclasses]"""
    values = [value for base in kind.__mro__[:-1] for value in vars(base).values()]
    guards = [each for each in values if hasattr(type(each), "__set__") and not isinstance(each, property)]
    decides = kind.__setattr__ is not object.__setattr__ or not hasattr(kind, "__dict__") or bool(guards)
    registers = type(kind) not in (type, abc.ABCMeta) or isinstance(kind.__init_subclass__, types.MethodType)
    return [sorted(getattr(kind, "__abstractmethods__", ())), decides, fields_of(kind), registers]


def _is_async(function):
    return inspect.iscoroutinefunction(function)


def _run(value):
    if not inspect.isawaitable(value):
        return value

    import asyncio  # takes as long to import as all of this

    async def wait():
        return await value

    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(wait())
    finally:
        loop.close()


async def _next_of(generator):
    try:
        return False, await generator.__anext__()
    except StopAsyncIteration:
        return True, None


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
    finder.after_import = code.context.forget  # the judge has imported the modules of its own
    sys.setrecursionlimit(DEPTH)
    while True:
        try:
            code.serve()
        except Gone:
            os._exit(0)
        except CannotCross as error:
            code.send("unfit", [str(error)])
