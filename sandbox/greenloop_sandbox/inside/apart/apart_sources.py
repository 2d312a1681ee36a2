"""Reads the texts of a workspace: its modules, what they import and rebind, and what belongs to the tests alone."""

import ast
import builtins
import os
import re

from apart_rules import is_test_path

MOST_BYTES = 32 << 20  # of sources that are read to find names
SKIPPED = frozenset((".git", "__pycache__", ".hypothesis", "node_modules", ".venv", "venv", ".tox", ".nox", "docs"))
_TELLING = frozenset((".git", ".hypothesis", ".pytest_cache", ".mypy_cache"))
_IMPORT = re.compile(r"^[ \t]*(?:from[ \t]+(\w+)|import[ \t]+([\w., \t]+))", re.MULTILINE)
_FILE_NAME = re.compile(r"[\"'/]([^\"'/\n]+)[\"']")


def data_of_tests(root, of_tests, own):
    """The files beside Python's that only the tests name, not the user's own code: what they expect may be there."""
    named, used = (set(_FILE_NAME.findall("\n".join(texts.values()))) for texts in (of_tests, own))
    named -= used
    for folder, folders, names in os.walk(root) if named else ():
        folders[:] = [name for name in folders if name not in SKIPPED]
        for name in named.intersection(names):
            if not name.endswith(".py"):
                yield os.path.relpath(os.path.join(folder, name), root).replace(os.sep, "/")


def names_besides_star(texts):
    """Names that tests have from elsewhere, where they import everything of some module: it must not hide them."""
    for text in texts:
        if "import *" in text:
            try:
                nodes = list(ast.walk(ast.parse(text)))
            except (SyntaxError, ValueError):
                continue
            imports = [node for node in nodes if isinstance(node, (ast.Import, ast.ImportFrom))]
            yield from (alias.asname or alias.name.split(".")[0] for node in imports for alias in node.names)
            yield from dir(builtins)


def sources(root):
    """(path, text) of the Python files of the workspace, up to a limit."""
    left = MOST_BYTES
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in SKIPPED)
        for name in sorted(names):
            path = os.path.join(folder, name)
            if name.endswith(".py") and left > 0:
                try:
                    with open(path, encoding="utf-8-sig", errors="replace") as stream:
                        text = stream.read()
                except OSError:
                    continue
                left -= len(text)
                yield os.path.relpath(path, root).replace(os.sep, "/"), text


def folders_of_tests(root):
    """The folders of tests, and those that show what the change was or is to be."""
    for folder, folders, _ in os.walk(root):
        for name in folders[:]:
            path = os.path.relpath(os.path.join(folder, name), root).replace(os.sep, "/")
            if name in _TELLING or name == "__pycache__" or is_test_path(path + "/x"):
                folders.remove(name)
                yield path
            elif name in SKIPPED:
                folders.remove(name)


def without_tests(text):
    """A module's text without the tests, fixtures and imports of pytest in it; the lines keep their numbers."""
    lines = text.split("\n")
    for node in ast.parse(text).body:
        name, decorators = getattr(node, "name", ""), " ".join(map(ast.dump, getattr(node, "decorator_list", ())))
        is_import = isinstance(node, (ast.Import, ast.ImportFrom)) and "pytest" in ast.dump(node)
        if name.lower().startswith("test") or "pytest" in decorators or is_import:
            first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))])
            lines[first - 1 : node.end_lineno] = [""] * (node.end_lineno - first + 1)
    return "\n".join(lines)


def imported(text):
    for from_name, names in _IMPORT.findall(text):
        yield from (
            [from_name]
            if from_name
            else (name.split(".")[0].split(" ")[0] for name in names.replace(", ", ",").split(","))
        )


def rebound(own):
    """[module, names] of the globals that functions of the project rebind."""
    found = []
    for path, text in own.items():
        if re.search(r"^\s+global ", text, re.MULTILINE):
            try:
                nodes = ast.walk(ast.parse(text))
            except (SyntaxError, ValueError):
                continue
            names = sorted({name for node in nodes if isinstance(node, ast.Global) for name in node.names})
            found.append([module_name(path), names])
    return found


def module_name(path):
    path = path.removeprefix("src/")
    name = path[:-3].replace("/", ".")
    return name.removesuffix(".__init__")
