"""Finds modules and calls with system access that a result newly uses. Such a result is offered, not applied."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping

from greenloop.core.python.ast_source import parse_module
from greenloop.core.python.names import import_keys
from greenloop.core.records.problem import Problem
from greenloop.core.text.diff import with_plain_ends

_RISKY_MODULES = {
    "os", "subprocess", "socket", "ctypes", "shutil", "signal", "multiprocessing", "importlib", "pickle", "marshal",
    "pty", "urllib", "http", "requests", "httpx", "aiohttp", "ftplib", "smtplib", "telnetlib", "ssl", "webbrowser",
    "builtins", "gc", "site", "runpy", "code", "codeop", "resource", "mmap", "fcntl", "posix", "nt", "cffi",
    "faulthandler", "_thread", "inspect", "atexit", "unittest", "pytest", "_pytest",
}  # fmt: skip
_RISKY_CALLS = {
    "eval", "exec", "compile", "__import__", "breakpoint", "exit", "quit", "sys.exit", "sys.settrace", "sys.setprofile",
    "sys._getframe", "sys.addaudithook",
    "os._exit", "os.abort", "os.kill", "os.system", "os.popen", "os.fork",
    "os.remove", "os.unlink",
    "os.rmdir", "os.removedirs", "os.rename", "os.replace", "os.putenv", "shutil.rmtree", "shutil.move",
}  # fmt: skip


def warnings(problem: Problem, files: Mapping[str, str]) -> tuple[str, ...]:
    """Warnings for the user: modules and calls with system access that the candidate newly uses."""
    result = []
    for path, text in files.items():
        before, after = _count_risky_uses(problem.originals.get(path) or ""), _count_risky_uses(text)
        new = [name for name in after if after[name] > before[name]]
        modules = sorted({name for name in new if name.startswith("import ") and not before[name]})
        calls = sorted(name for name in new if not name.startswith("import "))
        result += [f"It newly imports {name.removeprefix('import ')} in {path}." for name in modules]
        result += [f"It newly calls {name}() in {path}." for name in calls]
    return tuple(result)


def _count_risky_uses(text: str) -> Counter[str]:
    """Counts a module's imports and calls with system access."""
    module = parse_module(with_plain_ends(text))
    uses: Counter[str] = Counter()
    if isinstance(module, SyntaxError):
        return uses
    aliases: dict[str, str] = {}
    for node in ast.walk(module):
        if isinstance(node, ast.Import | ast.ImportFrom):
            for name, key in import_keys(node).items():
                aliases[name] = key.replace(":", ".")
                root = key.split(":")[0].split(".")[0]
                if root in _RISKY_MODULES:
                    uses[f"import {root}"] += 1
    for name in used_names(module, aliases):
        if name in _RISKY_CALLS:
            uses[name] += 1
    return uses


def used_names(module: ast.Module, aliases: Mapping[str, str]) -> Iterator[str]:
    """Dotted names that a module uses, with import aliases resolved; a use without a call counts as well."""
    for node in ast.walk(module):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield f"{aliases.get(node.value.id, node.value.id)}.{node.attr}".removeprefix("builtins.")
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield aliases.get(node.id, node.id)
