"""Notices in the worker when functions, methods or constants of the tests' own files are replaced.

A test trusts the helpers, base classes and tables of its file. What they are is known from the file's text, so it is
noticed too when they were replaced before the first test ran.
"""

import ast
import sys
import types

IMMUTABLE = (str, bytes, int, float, complex, type(None))
# Functions and methods that leave a list, set or dict as it is.
HARMLESS = frozenset(
    {
        "all", "any", "dict", "enumerate", "get", "items", "keys", "len", "list", "max", "min",
        "parametrize", "reversed", "set", "sorted", "sum", "tuple", "values", "zip",
    }
)  # fmt: skip


def make(paths, code_objects):
    """Makes `replaced()`: the dotted names that are not what the text of these files says, or no longer what they were.

    To be called when the files were imported.
    """
    entries = []  # (dotted name, namespace, key, value, code)
    classes = []  # (dotted name, class, its number of members, their names)
    constants = []  # (dotted name, namespace, key, value)
    wrong = []
    for module in list(sys.modules.values()):
        path = getattr(module, "__file__", None)
        if type(module) is types.ModuleType and path in paths:
            try:
                tree, code = _compile(module, path)
            except Exception:  # a text that the running pytest does not compile this way
                continue
            _collect(
                module, tree, code_objects.codes_in(code), code_objects.same_code, (entries, classes, constants, wrong)
            )
    missing = _ABSENT

    def replaced():
        names = list(wrong)
        for dotted, namespace, key, value, code in entries:
            present = namespace.get(key, missing)
            if present is not value or (code is not None and value.__code__ is not code):
                names.append(dotted)
        for dotted, kind, count, members in classes:
            if len(vars(kind)) != count:
                names += [dotted + "." + name for name in set(vars(kind)) - members if _hides(kind, name)]
        for dotted, namespace, key, value in constants:
            if not _is_same(namespace.get(key, missing), value):
                names.append(dotted)
        return names

    return replaced


def _hides(kind, name):
    """Whether a member of a class stands in front of an inherited method."""
    return any(type(vars(base).get(name)) is types.FunctionType for base in kind.__mro__[1:])


def _compile(module, path):
    """The tree of a module's file, and its code as pytest or Python compiled it."""
    with open(path, "rb") as stream:
        source = stream.read()
    tree = ast.parse(source, filename=path)
    loader = getattr(module, "__loader__", None)
    if type(loader).__module__ != "_pytest.assertion.rewrite":
        return tree, compile(source, path, "exec", dont_inherit=True)
    from _pytest.assertion.rewrite import rewrite_asserts

    rewritten = ast.parse(source, filename=path)
    rewrite_asserts(rewritten, source, path, loader.config)
    return tree, compile(rewritten, path, "exec", dont_inherit=True)


def _collect(module, tree, codes, same_code, found):
    entries, _classes, constants, wrong = found
    namespace, seen = vars(module), {}
    for node in ast.walk(tree):  # names that are bound more than once are anything
        for name in _bound(node):
            seen[name] = seen.get(name, 0) + 1
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and seen[node.name] == 1:
            _add(module.__name__, namespace, node, codes.get(node.name), same_code, entries, wrong)
        elif isinstance(node, ast.ClassDef) and seen[node.name] == 1:
            value = namespace.get(node.name)
            if isinstance(value, type) and not node.decorator_list:
                dotted = module.__name__ + "." + node.name
                _collect_class(dotted, value, node, codes, same_code, found)
        elif isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            value = _constant(tree, name, node.value) if seen[name] == 1 else None
            if value is not None:
                constants.append((module.__name__ + "." + name, namespace, name, value[0]))


def _bound(node):
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [node.name]
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        return [node.id]
    if isinstance(node, ast.alias):
        return [(node.asname or node.name).partition(".")[0]]
    if isinstance(node, (ast.Global, ast.Nonlocal)):
        return node.names
    return [node.arg] if isinstance(node, ast.arg) else []


def _collect_class(dotted, kind, node, codes, same_code, found):
    entries, classes, _constants, wrong = found
    members = vars(kind)
    names = {name for child in node.body for inner in ast.walk(child) for name in _bound(inner)}
    plain = not node.keywords and not [
        base for base in kind.__mro__[1:] if "__init_subclass__" in vars(base) and base is not object
    ]
    for child in node.body:
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
            _add(dotted, members, child, codes.get(node.name + "." + child.name), same_code, entries, wrong)
    for name, value in list(members.items()):
        is_added = plain and type(value) is types.FunctionType and name not in names and not name.startswith("__")
        if is_added and not value.__code__.co_filename.startswith("<"):
            wrong.append(dotted + "." + name)
    classes.append((dotted, kind, len(members), frozenset(members)))


class _Absent:
    """Stands for a name that a namespace does not have."""


_ABSENT = _Absent()


def _add(prefix, namespace, node, code, same_code, entries, wrong):
    value = namespace.get(node.name)
    if node.decorator_list:  # anything may have become of it; it must stay so
        inner = getattr(value, "__code__", None) if type(value) is types.FunctionType else None
        if node.name in namespace:
            entries.append((prefix + "." + node.name, namespace, node.name, value, inner))
    elif type(value) is types.FunctionType and code is not None:
        entries.append((prefix + "." + node.name, namespace, node.name, value, value.__code__))
        if not same_code(value.__code__, code):
            wrong.append(prefix + "." + node.name)
    elif value is not None:
        wrong.append(prefix + "." + node.name)


def _constant(tree, name, node):
    """The value of a constant that nothing in the text changes, in a tuple; else None."""
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
    if isinstance(value, (list, set, dict)) and not _only_read(tree, name):
        return None
    inner = [*value, *value.values()] if isinstance(value, dict) else value
    elements = inner if isinstance(value, (list, set, dict, tuple)) else [value]
    return (value,) if all(map(_is_immutable, elements)) else None


def _is_immutable(value):
    return all(map(_is_immutable, value)) if type(value) is tuple else isinstance(value, IMMUTABLE)


def _only_read(tree, name):
    harmless = 0
    for node in ast.walk(tree):
        if isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
            children = [node.iter]
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
            children = [node.value]
        elif isinstance(node, ast.Compare):
            children = [node.left, *node.comparators]
        elif isinstance(node, ast.Call):
            function = node.func
            called = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
            children = [*node.args, getattr(function, "value", None)] if called in HARMLESS else []
        else:
            continue
        harmless += sum(isinstance(child, ast.Name) and child.id == name for child in children)
    uses = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == name]
    return len(uses) - 1 == harmless  # the other one is its assignment


def _is_same(present, value):
    try:
        return type(present) is type(value) and bool(present == value) and repr(present) == repr(value)
    except Exception:
        return False
