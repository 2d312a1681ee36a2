"""Finds and loads the modules of a workspace, in the code's process with their new texts, in the judge's with stubs."""

import ast
import importlib.abc
import importlib.machinery
import importlib.util
import linecache
import os
import sys

from apart_rules import SPECIAL

EXPORT = "__apart_export__"
ABSENT = frozenset(("pytest", "_pytest", "_hypothesis_pytestplugin", "greenloop", "greenloop_sandbox"))


def named_nodes(tree):
    """{key: node} of each function and class outside of functions: qualified names, of which equal ones are numbered.

    Both sides use it.
    """
    counts, found = {}, {}

    def walk(nodes, prefix):
        for node in nodes:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                name = prefix + node.name
                number = counts[name] = counts.get(name, -1) + 1
                found[name + ("#%d" % number if number else "")] = node
                if isinstance(node, ast.ClassDef):
                    walk(node.body, name + ".")
            elif isinstance(node, (ast.If, ast.Try, ast.ExceptHandler, ast.With)):
                walk(ast.iter_child_nodes(node), prefix)

    walk(tree.body, "")
    return found


class Loader(importlib.machinery.SourceFileLoader):
    """Loads a module of the workspace, with an innermost decorator for the bare functions of these keys: `replace`.

    `keys` None: of all. Never from a cache. `fallback` loads one that raises.
    """

    def __init__(self, name, path, keys, replace, finish, text=None, fallback=None):
        super().__init__(name, path)
        self._keys, self._replace, self._finish, self._own_text, self._fallback = keys, replace, finish, text, fallback

    def get_data(self, path):
        return super().get_data(path) if self._own_text is None else self._own_text.encode()

    def get_code(self, fullname):
        path = self.get_filename(fullname)
        tree = ast.parse(self.get_data(path), path)
        for key, node in named_nodes(tree).items():
            if not isinstance(node, ast.ClassDef) and (self._keys is None or key in self._keys):
                note = ast.Call(ast.Name(EXPORT, ast.Load()), [ast.Constant(key)], [])
                node.decorator_list.append(ast.fix_missing_locations(ast.copy_location(note, node)))
        return compile(tree, path, "exec", dont_inherit=True)

    def exec_module(self, module):
        vars(module)[EXPORT] = lambda key: lambda function: self._replace(module, key, function)
        try:
            super().exec_module(module)
        except Exception:
            if self._fallback is None:
                raise
            self._fallback.exec_module(module)
        else:
            self._finish(module)


class CodeFinder(importlib.abc.MetaPathFinder):
    """Finds all modules: changed ones by their new texts, others as the finders before it did."""

    def __init__(self, root, files, functions, finders):
        self._root, self._functions, self._finders = root + "/", functions, finders
        self.after_import = None  # what has to happen then
        self._texts = {os.path.realpath(os.path.join(root, path)): text for path, text in files.items()}
        # On the disk is the user's own text; what code reads of itself (`inspect.getsource`) is the changed one.
        linecache.cache.update(
            (path, (len(text), None, text.splitlines(True), path)) for path, text in self._texts.items() if text
        )

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
            name, path, Loader(name, path, None, self._note, lambda _: self.after_import(), self._texts.get(path))
        )

    def _note(self, module, key, function):
        self._functions[module.__name__, key] = function
        return function


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
    specs = (each.find_spec(name, path, target) for each in finders if hasattr(each, "find_spec"))
    return next((found for found in specs if found is not None), None)


class JudgeFinder(importlib.abc.MetaPathFinder):
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
        conversation, of_the_code = self._conversation, _NewModule(self._conversation)
        if changes["is_new"]:
            is_package = path.endswith("/__init__.py")
            return importlib.machinery.ModuleSpec(name, of_the_code, origin=path, is_package=is_package)

        def replace(module, key, function):
            change = changes["stubs"][key]
            made = conversation.stub(module.__name__, key, change["kind"], function)
            return conversation.peer.describe(made, module.__name__, key, True) if change.get("is_other") else made

        def finish(module):
            conversation.finish(module, changes)

        # One of the user's own that raises is taken from the code as a whole, as a new one is.
        return module_spec(name, path, Loader(name, path, {*changes["stubs"]}, replace, finish, fallback=of_the_code))


class _NewModule(importlib.abc.Loader):
    """A module that the user's own code does not have: each name is what the code's process has under it."""

    def __init__(self, conversation):
        self._conversation = conversation

    def exec_module(self, module):
        conversation, name = self._conversation, module.__name__
        if module.__spec__.submodule_search_locations is not None:
            module.__path__ = [os.path.dirname(module.__spec__.origin)]
        for key in conversation.peer.request("names", name):
            if type(key) is str and not SPECIAL.match(key):
                conversation.bind(module, key)
        conversation.keep_names(module, set())
