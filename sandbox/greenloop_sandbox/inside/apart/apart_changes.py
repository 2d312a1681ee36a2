"""Finds what differs between the user's own code and the changed code: functions, classes, constants; by text alone.

A changed function whose decorators stay is replaced *inside* them, so that `lru_cache`, `contextmanager`, properties
and commands work as they are. With the outer boundary, every function that may lead to a changed one is replaced too.
"""

import ast
import builtins

import apart_sources as sources
from apart_modules import named_nodes
from apart_rules import NEVER, SPECIAL, STANDARD, is_test_path

CALLED_BY_NAME_OF_CLASS = frozenset(("__init__", "__call__", "__new__", "__enter__", "__exit__"))
_TABLES = (ast.Dict, ast.List, ast.Set, ast.Call, ast.DictComp, ast.ListComp, ast.SetComp)  # may be changed in place


def complete(request, root):
    """Adds to the `apart` field of a run what both processes have to know of the change.

    `files` has the changed Python texts by path (None: taken away). Raises `SyntaxError` or `ValueError` for a changed
    text that cannot be parsed.
    """
    tests = frozenset(request["tests"])
    texts, others, telling = sources.read(root)
    is_test = {path: is_test_path(path) or path in tests for path in {*texts, *request["files"]}}
    own = {path: text for path, text in texts.items() if not is_test[path] or path in request["files"]}
    project = {sources.module_name(path).split(".")[0] for path in own}
    used = {name for text in own.values() for name in sources.imported(text)}
    trees, modules, seeds, bound, used_names = {}, {}, set(), {}, set()
    for path, text in request["files"].items():
        if text is None or text == own.get(path):
            continue
        tree = sources.parse(own[path]) if path in own else None
        modules[path] = _module(path, is_new=tree is None)  # of what cannot be parsed, nothing can run in the judge
        if tree is not None:
            trees[path] = tree
            bound[path] = _compare(tree, ast.parse(text), modules[path], seeds, used_names)
    if request["outer"] and (seeds or any(bound.values())):
        _add_callers(own, trees, modules, seeds, bound, used_names)
    files = {path: own.get(path) for path in request["files"]} if request["own"] else request["files"]
    of_tests = {path: texts.get(path, "") for path in is_test if is_test[path]}
    return {
        **request,
        "root": root,
        "allowed": sorted(((STANDARD | used) - NEVER) | project),
        "project": sorted(project | {sources.module_name(path).split(".")[0] for path in modules}),
        "modules": modules,
        "rebound": sources.rebound(own),
        "files": {
            path: sources.without_tests(text) if text and is_test[path] else text for path, text in files.items()
        },
        "hidden": [] if request["aware"] else [*telling, *of_tests, *sources.data_of_tests(others, of_tests, own)],
        "kept": sorted(set(sources.names_besides_star(of_tests.values()))),
    }


def _module(path, is_new):
    """`stubs`: functions to replace inside their decorators; `new`: as a whole; `touched`: changed class bodies."""
    fields = {"stubs": {}, "new": {}, "removed": [], "constants": [], "classes": [], "touched": []}
    return {"name": sources.module_name(path), "is_new": is_new, **fields}


# -- one file -------------------------------------------------------------------------------------------------------


def _compare(old_tree, new_tree, module, seeds, used_names):
    """Fills the fields of a module; returns the names that it assigns or imports otherwise than before."""
    old, new = named_nodes(old_tree), named_nodes(new_tree)
    for key, node in new.items():
        before, is_class, name = old.get(key), isinstance(node, ast.ClassDef), key.partition("#")[0]
        if before is None or isinstance(before, ast.ClassDef) != is_class:
            if any(name.startswith(other + ".") for other in module["classes"]):
                continue  # it comes with its class
            if is_class:
                module["classes"].append(name)
            else:
                module["new"][key] = _new_function(node)
                used_names |= _names(node)
        elif is_class:
            if _class_itself(before) == _class_itself(node):
                continue
            # Members of an enumeration, slots and bases cannot be added: the changed class takes its place.
            is_enum = any("Enum" in each or "Flag" in each for each in _dumps(node.bases))
            module["classes" if is_enum or _layout(node) != _layout(before) else "touched"].append(name)
        elif ast.dump(before) == ast.dump(node):
            continue
        else:
            used_names |= _names(node)
            if _dumps(before.decorator_list) == _dumps(node.decorator_list):
                is_other = _signature(before) != _signature(node)  # for those that look at it
                module["stubs"][key] = {"kind": kind_of(node), "is_other": is_other}
            else:
                module["new"][key] = _new_function(node)
        seeds.add(name.rpartition(".")[2])
    for key, node in new.items():  # what `@show.register` adds belongs to `show`
        added = _dumps(getattr(node, "decorator_list", ())) if key not in old else ()
        for other in [key for key in old if any("Attribute(value=Name(id='%s'" % key in each for each in added)]:
            if other in new and not isinstance(new[other], ast.ClassDef):
                module["new"].setdefault(other, _new_function(new[other]))
                module["stubs"].pop(other, None)
    module["removed"] = [
        key for key in old if key not in new and "#" not in key and key.rpartition(".")[0] in ("", *new)
    ]
    before, after = ({(name, ast.dump(each)) for name, each in _assigned(tree)} for tree in (old_tree, new_tree))
    imports, old_imports = sources.bound_by_imports(new_tree), sources.bound_by_imports(old_tree)
    constants = {name for name, _ in before ^ after} & {name for name, _ in after}
    module["constants"] = sorted(constants | ((imports - old_imports) & {*old, *(name for name, _ in before)}))
    changed = {*module["constants"], *imports ^ old_imports}
    for key, node in new.items():  # a function that reads a changed name changes with it
        is_known = key not in old or key in module["new"] or isinstance(node, ast.ClassDef)
        if not is_known and _names(node) & changed:
            module["stubs"].setdefault(key, {"kind": kind_of(node)})
    return changed


def _signature(function):
    return ast.dump(function.args), function.returns and ast.dump(function.returns)


def _new_function(node):
    return {"kind": kind_of(node), "decorator": _plain_decorator(node.decorator_list)}


def _plain_decorator(decorators):
    """Returns property, classmethod or staticmethod, setter or deleter, "" for no decorator, None for any other."""
    if len(decorators) != 1:
        return None if decorators else ""
    name = getattr(decorators[0], "id", None) or getattr(decorators[0], "attr", None)
    return name if name in ("property", "classmethod", "staticmethod", "setter", "deleter") else None


def _class_itself(node):
    functions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    is_text = lambda each: isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant)  # noqa: E731
    body = [each for each in node.body if not isinstance(each, functions) and not is_text(each)]
    return _dumps(body), _dumps(node.decorator_list + node.bases + node.keywords)


def _layout(node):
    """Bases that are exceptions of Python itself, and slots: neither can be changed in a class that exists."""
    kinds = [getattr(builtins, getattr(each, "id", ""), None) for each in node.bases]
    named = [each for each in node.body if isinstance(each, ast.Assign) and "'__slots__'" in ast.dump(each)]
    has_slots = any("arg='slots'" in each for each in _dumps(node.decorator_list))
    exceptions = [each for each in kinds if isinstance(each, type) and issubclass(each, BaseException)]
    return exceptions, _dumps(named), has_slots


def _dumps(nodes):
    return [ast.dump(node) for node in nodes]


def _assigned(tree):
    """(name, node) of each assignment of a module."""
    for node in tree.body:
        if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                names = [each for each in [target, *getattr(target, "elts", ())] if isinstance(each, ast.Name)]
                yield from ((each.id, node) for each in names)


def kind_of(function):
    """plain, generator, async, or async generator."""
    yields, todo = False, list(function.body)
    while todo:
        node = todo.pop()
        yields = yields or isinstance(node, (ast.Yield, ast.YieldFrom))
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            todo += ast.iter_child_nodes(node)
    is_async = isinstance(function, ast.AsyncFunctionDef)
    return ("async generator" if yields else "async") if is_async else "generator" if yields else "plain"


# -- the outer boundary ---------------------------------------------------------------------------------------------


def _add_callers(own, trees, modules, seeds, bound, used_names):
    """Adds a stub for each function that may lead to a changed one, or shares a table with it, as far as names tell."""
    trees = {path: tree for path, text in own.items() if (tree := trees.get(path) or sources.parse(text))}
    new = {(path, key) for path, each in modules.items() for key in (*each["new"], *each["classes"]) if "." not in key}
    new -= {(path, key) for path in modules if path in trees for key in named_nodes(trees[path])}
    new |= {(path, name) for path, names in bound.items() for name in names}
    functions = [
        (path, key, _called_as(key.partition("#")[0]), node, _names(node) - _elsewhere(new, path, tree, node))
        for path, tree in trees.items()
        for key, node in named_nodes(tree).items()
        if not isinstance(node, ast.ClassDef)
    ]
    assigned = [pair for path in modules if path in trees for pair in _assigned(trees[path])]
    shared = {name for name, node in assigned if isinstance(node.value, _TABLES)} & used_names
    shared = shared.union(*bound.values())
    reached, more = set(), {*seeds, *(called for _, _, called, _, names in functions if names & shared)} - {None}
    while more:
        reached |= more
        more = {called for _, _, called, _, names in functions if names & reached} - reached - {None}
    for path, key, called, node, _ in functions:
        decorators = " ".join(_dumps(node.decorator_list))
        is_special = SPECIAL.match(node.name) and node.name not in ("__init__", "__call__")
        is_marked = any(word in decorators for word in ("overload", "abstract", "fixture"))
        if called not in reached or is_special or is_marked:
            continue
        module = modules.setdefault(path, _module(path, is_new=False))
        if not (module["is_new"] or key in {*module["stubs"], *module["new"], *module["removed"]}):
            module["stubs"][key] = {"kind": kind_of(node)}


def _elsewhere(new, path, tree, node):
    """The names of what other modules define anew that mean something else in a function: `split` of a text, `zip`."""
    bound = sources.bound_by_imports(tree)
    names = {name for place, name in new if place != path and not bound & {name, "*"}}
    attributes = (each for each in ast.walk(node) if isinstance(each, ast.Attribute) and each.attr in names)
    return names - {each.attr for each in attributes if getattr(each.value, "id", None) in bound}


def _called_as(name):
    """The name by which code calls a function: of `C.__init__` it is `C`; None for other special methods."""
    *owners, last = name.split(".")
    if last in CALLED_BY_NAME_OF_CLASS and owners:
        return owners[-1]
    return None if SPECIAL.match(last) else last


def _names(node):
    names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
    return names | {each.attr for each in ast.walk(node) if isinstance(each, ast.Attribute)}
