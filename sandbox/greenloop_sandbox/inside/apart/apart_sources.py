"""Reads the texts of a workspace: its modules, what they import and rebind, and what belongs to the tests alone."""

import ast
import builtins
import os
import re

from apart_rules import is_test_path

MOST_BYTES = 32 << 20  # of sources that are read to find names
_TELLING = frozenset((".git", ".hypothesis", ".pytest_cache", ".mypy_cache", "__pycache__"))  # of what is to come
SKIPPED = _TELLING | {"node_modules", ".venv", "venv", ".tox", ".nox", "docs"}
_IMPORT = re.compile(r"^[ \t]*(?:from[ \t]+(\w+)|import[ \t]+([\w., \t]+))", re.MULTILINE)
_FILE_NAME = re.compile(r"[\"'/]([^\"'/\n]+)[\"']")


def read(root):
    """({path: text} of the Python files of a workspace, up to a limit; other files; folders that tell of tests)"""
    texts, others, telling, left = {}, [], [], MOST_BYTES
    for folder, folders, names in os.walk(root):
        inside = os.path.relpath(folder, root).replace(os.sep, "/") + "/"
        inside = "" if inside == "./" else inside
        telling += [inside + name for name in folders if name in _TELLING or is_test_path(inside + name + "/x")]
        folders[:] = sorted(set(folders) - SKIPPED)
        for name in sorted(names):
            if not name.endswith(".py"):
                others.append(inside + name)
            elif left > 0:
                try:
                    with open(os.path.join(folder, name), encoding="utf-8-sig", errors="replace") as stream:
                        text = texts[inside + name] = stream.read()
                except OSError:
                    continue
                left -= len(text)
    return texts, others, telling


def parse(text, mode="exec"):
    """The tree of a text; None of one that cannot be parsed."""
    try:
        return ast.parse(text, mode=mode)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def first_line(node):
    """The line in which a function or class begins, with its decorators."""
    return min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))])


def data_of_tests(others, of_tests, own):
    """The files that only the tests name, not the user's own code: what they expect may be there."""
    named, used = (set(_FILE_NAME.findall("\n".join(texts.values()))) for texts in (of_tests, own))
    return [path for path in others if path.rpartition("/")[2] in named - used]


def names_besides_star(texts):
    """Names that tests have from elsewhere, where they import everything of some module: it must not hide them."""
    for text in texts:
        tree = parse(text) if "import *" in text else None
        if tree is not None:
            yield from (*bound_by_imports(tree), *dir(builtins))


def bound_by_imports(tree):
    imports = [node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))]
    return {each.asname or each.name.split(".")[0] for node in imports for each in node.names}


def without_tests(text):
    """A module's text without the tests, fixtures and imports of pytest in it; the lines keep their numbers."""
    lines = text.split("\n")
    for node in ast.parse(text).body:
        name, decorators = getattr(node, "name", ""), " ".join(map(ast.dump, getattr(node, "decorator_list", ())))
        is_import = isinstance(node, (ast.Import, ast.ImportFrom)) and "pytest" in ast.dump(node)
        if name.lower().startswith("test") or "pytest" in decorators or is_import:
            first = first_line(node) - 1
            lines[first : node.end_lineno] = [""] * (node.end_lineno - first)
    return "\n".join(lines)


def named(text):
    """The names and attributes in a text that stand for themselves, not for something in them."""
    nodes = [*ast.walk(parse(text) or ast.Module([], []))]
    inner = {id(each.value) for each in nodes if isinstance(each, (ast.Attribute, ast.Subscript))}
    return {getattr(each, "attr", getattr(each, "id", "")) for each in nodes if id(each) not in inner}


def imported(text):
    for from_name, names in _IMPORT.findall(text):
        yield from [from_name] if from_name else re.findall(r"(?:^|,)[ \t]*(\w+)", names)


def rebound(own):
    """[module, names] of the globals that functions of the project rebind."""
    found = []
    for path, text in own.items():
        tree = parse(text) if re.search(r"^\s+global ", text, re.MULTILINE) else None
        if tree is not None:
            names = {name for node in ast.walk(tree) if isinstance(node, ast.Global) for name in node.names}
            found.append([module_name(path), sorted(names)])
    return found


def module_name(path):
    path = path.removeprefix("src/")
    name = path[:-3].replace("/", ".")
    return name.removesuffix(".__init__")
