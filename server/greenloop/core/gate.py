"""The static gate: what can be said against a candidate without running anything.

It never accuses falsely: where something cannot be told for sure (a file that was broken before, star imports,
`globals()`), the sandbox decides.
"""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Iterator, Mapping

from greenloop.core.compose import region_text
from greenloop.core.diff import flat
from greenloop.core.encoding import declared, encodable
from greenloop.core.mend import defaults, parameters
from greenloop.core.names import bound_by, import_keys, undefined
from greenloop.core.nouns import Candidate, Finding, Problem, Region
from greenloop.core.source import (
    DEFINITIONS,
    FUNCTIONS,
    Definition,
    Function,
    Piece,
    compiled,
    definitions,
    docstring,
    dump,
    is_stub,
    piece,
    plain_name,
    role,
    tree,
)

UNCHANGED = "Unchanged"
UNDEFINED = "UndefinedName"
SIGNATURE = "SignatureChanged"
DELETED = "RegionDeleted"
ENCODING = "EncodingError"

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


def check(
    problem: Problem, candidate: Candidate, files: Mapping[str, str], parent: Candidate | None = None
) -> Finding | None:
    """The first thing that speaks against the candidate, or None. `files` are its composed texts.

    Error classes: EncodingError, SyntaxError and its kinds, RegionDeleted, SignatureChanged, Unchanged (equal to the
    user's code or to `parent`), UndefinedName. The line of a finding counts in the composed file.
    """
    for path, text in files.items():
        if finding := _encoding(text) or _syntax(problem, path, text):
            return finding
    for region in candidate.texts:
        if finding := _shape(problem, region, candidate, files):
            return finding
    if same(problem, candidate, None):
        return Finding(error_class=UNCHANGED, message="The answer repeats the user's code without a change.")
    if parent is not None and same(problem, candidate, parent):
        return Finding(error_class=UNCHANGED, message="The answer repeats the code it was asked to repair.")
    for path, text in files.items():
        if finding := _undefined(problem, path, text):
            return finding
    return None


def same(problem: Problem, a: Candidate | None, b: Candidate | None) -> bool:
    """Do two candidates mean the same code? None is the user's own. Comments, layout and docstrings do not count."""
    regions = {*(a.texts if a else ()), *(b.texts if b else ())}
    if any(_meaning(_text(problem, a, region)) != _meaning(_text(problem, b, region)) for region in regions):
        return False
    return _beside(a) == _beside(b)


def warnings(problem: Problem, files: Mapping[str, str]) -> tuple[str, ...]:
    """What a user should know before taking the candidate: modules and calls it newly uses that reach the system."""
    result = []
    for path, text in files.items():
        before, after = _reach(problem.originals.get(path) or ""), _reach(text)
        new = [name for name in after if after[name] > before[name]]
        modules = sorted({name for name in new if name.startswith("import ") and not before[name]})
        calls = sorted(name for name in new if not name.startswith("import "))
        result += [f"It newly imports {name.removeprefix('import ')} in {path}." for name in modules]
        result += [f"It newly calls {name}() in {path}." for name in calls]
    return tuple(result)


# -- encoding and syntax ----------------------------------------------------------------------------------------


def _encoding(text: str) -> Finding | None:
    sentence = encodable(flat(text), declared(text))
    return Finding(error_class=ENCODING, message=sentence) if sentence else None


def _syntax(problem: Problem, path: str, text: str) -> Finding | None:
    error = compiled(flat(text))
    if error is None or compiled(flat(problem.files.get(path, ""))) is not None:
        return None  # a file that was broken before, or is written for a newer Python, is the sandbox's to judge
    lines = flat(text).split("\n")
    line = min(max(error.lineno or 1, 1), len(lines))
    message = f"{error.msg} in line {line}: {lines[line - 1].strip()[:120]}"
    return Finding(error_class=type(error).__name__, message=message, line=line)


# -- the shape of a region --------------------------------------------------------------------------------------


def _shape(problem: Problem, region: Region, candidate: Candidate, files: Mapping[str, str]) -> Finding | None:
    name = plain_name(region.qualname)
    new = _definition(candidate.texts[region])
    if region.created:
        return None if _is_bound(files[region.path], name) else _deleted(name)
    old = _definition(region_text(problem, region))
    if old is None:
        return None
    if new is None or new.name != old.name:
        return _deleted(name) if isinstance(piece(candidate.texts[region]), Piece) else None
    line = _line_of(files[region.path], name)
    if isinstance(old, FUNCTIONS) and isinstance(new, FUNCTIONS):
        return _signature(problem, name, old, new, line)
    if isinstance(old, ast.ClassDef) and isinstance(new, ast.ClassDef):
        return _members(problem, name, old, new, line)
    kind = "class" if isinstance(old, ast.ClassDef) else "function"
    return Finding(error_class=SIGNATURE, message=f"`{name}` must stay a {kind}.", line=line)


def _deleted(name: str) -> Finding:
    return Finding(error_class=DELETED, message=f"The answer's code leaves no `{name}` in the module.")


def _is_bound(text: str, name: str) -> bool:
    found = piece(text)
    if isinstance(found, SyntaxError) or any(qualname == name for qualname, _node in definitions(found.body)):
        return True
    return any(name in bound_by(node) for node in found.body)


def _definition(text: str) -> Definition | None:
    """The definition that a region's text holds; new methods that follow it do not count."""
    found = piece(text)
    body = [] if isinstance(found, SyntaxError) else found.body
    return next((node for node in body if isinstance(node, DEFINITIONS)), None)


def _line_of(text: str, name: str) -> int | None:
    found = piece(text)
    if isinstance(found, SyntaxError):
        return None
    return next((node.lineno for qualname, node in definitions(found.body) if qualname == name), None)


def _members(problem: Problem, name: str, old: ast.ClassDef, new: ast.ClassDef, line: int | None) -> Finding | None:
    after = {(item.name, role(item)): item for item in new.body if isinstance(item, DEFINITIONS)}
    for item in old.body:
        if not isinstance(item, DEFINITIONS):
            continue
        other = after.get((item.name, role(item)))
        if other is None:
            return _deleted(f"{name}.{item.name}")
        if isinstance(item, FUNCTIONS) and isinstance(other, FUNCTIONS):
            finding = _signature(problem, f"{name}.{item.name}", item, other, line)
            if finding:
                return finding
    return None


def _signature(problem: Problem, name: str, old: Function, new: Function, line: int | None) -> Finding | None:
    """A changed way to be called. A stub `(*args, **kwargs)` may get any; so may what the tests call in a new way."""
    if type(old) is not type(new):
        sentence = f"`{name}` must stay {'an async' if isinstance(old, ast.AsyncFunctionDef) else 'a plain'} function."
        return Finding(error_class=SIGNATURE, message=sentence, line=line)
    before, after = _access(old), _access(new)
    if before != after:
        sentence = f"`{name}` must stay {_access_name(before)}, not {_access_name(after)}."
        return Finding(error_class=SIGNATURE, message=sentence, line=line)
    takes_all = {kind for _name, kind in parameters(old)} >= {"star", "doublestar"} and is_stub(old)
    if takes_all or (parameters(old) == parameters(new) and set(defaults(old)) == set(defaults(new))):
        return None
    if _needed(problem, name.rpartition(".")[2], old, new):
        return None
    sentence = f"`{name}({ast.unparse(old.args)})` became `({ast.unparse(new.args)})`; its parameters must stay."
    return Finding(error_class=SIGNATURE, message=sentence, line=line)


def _access(node: Function) -> frozenset[str]:
    """Decorators that decide how a function is reached."""
    kinds = {
        "property",
        "cached_property",
        "staticmethod",
        "classmethod",
        "setter",
        "deleter",
        "getter",
        "contextmanager",
    }
    names = set()
    for item in node.decorator_list:
        target = item.func if isinstance(item, ast.Call) else item
        names.add(target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", ""))
    return frozenset(names & kinds)


def _access_name(names: frozenset[str]) -> str:
    return f"a {' and '.join(sorted(names))}" if names else "undecorated"


def _needed(problem: Problem, name: str, old: Function, new: Function) -> bool:
    """Do the tests call the function in a way that only the new parameters can take?"""
    own = {region.path for region in problem.regions}
    paths = {case.path for case in problem.spec.cases} | {path for path in problem.originals if path not in own}
    for path in paths:
        module = tree(flat(problem.originals.get(path) or ""))
        if isinstance(module, SyntaxError):
            continue
        for node in ast.walk(module):
            if not isinstance(node, ast.Call):
                continue
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called == name and not _binds(old, node) and _binds(new, node):
                return True
    return False


def _binds(node: Function, call: ast.Call) -> bool:
    """Can the call's arguments go into the parameters? A leading self or cls is filled by Python."""
    args = node.args
    plain = [*args.posonlyargs, *args.args]
    if plain and plain[0].arg in ("self", "cls"):
        plain = plain[1:]
    if any(isinstance(item, ast.Starred) for item in call.args) or any(item.arg is None for item in call.keywords):
        return True
    given = {item.arg for item in call.keywords}
    names = {item.arg for item in plain if item not in args.posonlyargs} | {item.arg for item in args.kwonlyargs}
    if len(call.args) > len(plain) and not args.vararg:
        return False
    if given - names and not args.kwarg:
        return False
    filled = {item.arg for item in plain[: len(call.args)]} | given
    needed = {item.arg for item in [*plain, *args.kwonlyargs]} - set(defaults(node))
    return needed <= filled


# -- meaning ----------------------------------------------------------------------------------------------------


def _text(problem: Problem, candidate: Candidate | None, region: Region) -> str:
    return candidate.texts[region] if candidate and region in candidate.texts else region_text(problem, region)


def _meaning(text: str) -> str:
    found = piece(text)
    if isinstance(found, SyntaxError):
        return "\n".join(line.rstrip() for line in flat(text).split("\n") if line.strip())
    body = copy.deepcopy(found.body)
    for node in (inner for item in body for inner in ast.walk(item)):
        if isinstance(node, DEFINITIONS) and docstring(node):
            node.body = node.body[1:] or [ast.Pass()]
    return "\n".join(dump(node) for node in body)


def _beside(candidate: Candidate | None) -> tuple[set[str], set[str]]:
    if candidate is None:
        return set(), set()
    return {_meaning(text) for text in candidate.imports}, {_meaning(text) for text in candidate.helpers}


def _undefined(problem: Problem, path: str, text: str) -> Finding | None:
    known = undefined(problem.files.get(path, ""))
    found = {name: line for name, line in undefined(text).items() if name not in known}
    if not found:
        return None
    name, line = next(iter(found.items()))
    others = [f"`{other}`" for other in found if other != name]
    also = f" (nor {', '.join(others)})" if others else ""
    message = f"name `{name}` is not defined{also}; it is used in line {line}."
    return Finding(error_class=UNDEFINED, message=message, line=line)


# -- reach ------------------------------------------------------------------------------------------------------


def _reach(text: str) -> Counter[str]:
    """How often a module imports and calls what reaches beyond itself."""
    module = tree(flat(text))
    found: Counter[str] = Counter()
    if isinstance(module, SyntaxError):
        return found
    aliases: dict[str, str] = {}
    for node in ast.walk(module):
        if isinstance(node, ast.Import | ast.ImportFrom):
            for name, key in import_keys(node).items():
                aliases[name] = key.replace(":", ".")
                root = key.split(":")[0].split(".")[0]
                if root in _RISKY_MODULES:
                    found[f"import {root}"] += 1
    for name in _called(module, aliases):
        if name in _RISKY_CALLS:
            found[name] += 1
    return found


def _called(module: ast.Module, aliases: Mapping[str, str]) -> Iterator[str]:
    """Dotted names of what is called, seen through import aliases; a bare mention counts for names, not attributes."""
    for node in ast.walk(module):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield f"{aliases.get(node.value.id, node.value.id)}.{node.attr}".removeprefix("builtins.")
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield aliases.get(node.id, node.id)
