"""What is put in the place of changed values of modules and classes: tables, regular expressions, defaults.

A name counts as changed where the statement that assigns it differs from the user's own text.
"""

import ast
import os
import sys

OWN, WRONG = "own", "wrong"


class WorkspaceModules:
    """The imported modules of files below `root`, as of the last `look`: others may be thousands."""

    def __init__(self, root):
        self._prefix, self.found = root + os.sep, []

    def look(self):
        every = list(sys.modules.values())
        self.found = [each for each in every if str(getattr(each, "__file__", None)).startswith(self._prefix)]


class ChangedValues:
    """The changed names of one file. `text` is the user's own, `present` the candidate's; `wrong(value)` alters one.

    Values are replaced under their name in the module and its classes, and in those of `modules` that import the name.
    """

    def __init__(self, modules, path, text, present, wrong):
        self._modules, self._path, self._wrong, self._replaced = modules, path, wrong, []
        own, new = _assigned_values(text), _assigned_values(present)
        self._own = {name: own.get(name) for name in new if name not in own or not _is_same(own[name], new[name])}
        self.has_own = any(value is not None for value in self._own.values())

    def present(self):
        """The values as the candidate made them."""
        return [vars(owner)[name] for owner, _scope, name, _own in self._places()]

    def put(self, mode, with_new):
        """Puts other values in place; `with_new`: also for names that the user's own text does not have."""
        for owner, scope, name, own in list(self._places()):
            present = vars(owner)[name]
            if mode == OWN and own is not None:
                try:
                    value = eval(compile(ast.Expression(own), self._path, "eval"), dict(scope), dict(vars(owner)))
                except Exception:  # it needs what the candidate took away
                    continue
            elif mode != OWN and (own is not None or with_new):
                value = self._wrong(present) if mode == WRONG else None
            else:
                continue
            for place in [owner, *self._modules_that_import(name, present)]:
                try:
                    setattr(place, name, value)
                except Exception:  # a class that refuses, such as an enumeration
                    continue
                self._replaced.append((place, name, present))

    def restore(self):
        while self._replaced:
            place, name, value = self._replaced.pop()
            setattr(place, name, value)

    def _modules_that_import(self, name, value):
        modules = [module for module in self._modules.found if type(module) is type(sys)]
        return [module for module in modules if vars(module).get(name, self) is value]

    def _places(self):
        """(module or class, the module's variables, name, the user's own expression) of each changed name."""
        for module in self._modules.found:
            if getattr(module, "__file__", None) != self._path:
                continue
            for names, own in self._own.items():
                owner = module
                for class_name in names[:-1]:
                    owner = vars(owner).get(class_name)
                    if not isinstance(owner, type):
                        break
                else:
                    if names[-1] in vars(owner):
                        yield owner, vars(module), names[-1], own


def _assigned_values(text):
    """The expressions that names of a module and its classes are assigned last, by the path of names."""
    values = {}
    try:
        todo = [((), ast.parse(text).body)]
    except (SyntaxError, ValueError):  # a text that does not compile has no values
        return values
    while todo:
        prefix, body = todo.pop()
        for node in body:
            if isinstance(node, ast.ClassDef):
                todo.append(((*prefix, node.name), node.body))
            elif isinstance(node, (ast.If, ast.Try, ast.With)):
                todo.append((prefix, [*node.body, *getattr(node, "orelse", ())]))
            elif isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
                for target in getattr(node, "targets", None) or [node.target]:
                    if isinstance(target, ast.Name):
                        values[(*prefix, target.id)] = node.value
    return values


def _is_same(one, other):
    return ast.dump(one) == ast.dump(other)
