"""Checks that a region can still be called: same name, kind, parameters and decorators."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from greenloop.core.compose import region_text
from greenloop.core.python.ast_source import (
    DEFINITIONS,
    FUNCTIONS,
    Definition,
    Fragment,
    Function,
    decorator_role,
    defaults,
    find_definitions,
    first_definition,
    parameters,
    parse_fragment,
    plain_name,
    statements_of,
    walk_code,
)
from greenloop.core.python.names import bound_names
from greenloop.core.python.stubs import is_stub
from greenloop.core.records.attempt import Candidate, Finding
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region

SIGNATURE = "SignatureChanged"
_AWAITING = frozenset({"gather", "create_task", "ensure_future", "wait_for", "shield", "as_completed"})
DELETED = "RegionDeleted"
_PROPERTIES = frozenset({"property", "cached_property"})
_PARAMETERS = frozenset({"signature", "getfullargspec", "__defaults__", "__kwdefaults__", "__code__"})


def check_signature(problem: Problem, region: Region, candidate: Candidate, files: Mapping[str, str]) -> Finding | None:
    """A finding RegionDeleted or SignatureChanged, or None. `files` are the composed texts."""
    name = plain_name(region.qualname)
    new = first_definition(candidate.texts[region])
    if region.created or region.assigns:
        return None if _is_bound(files[region.path], name) else _deleted_finding(name)
    old = first_definition(region_text(problem, region))
    if old is None:
        return None
    if new is None or new.name != old.name:
        return _deleted_finding(name) if isinstance(parse_fragment(candidate.texts[region]), Fragment) else None
    others = [text for each, text in candidate.texts.items() if each != region]
    finding = _definition_finding(problem, name, old, new, others)
    if finding is None or finding.error_class == DELETED:
        return finding
    return replace(finding, line=_line_of(files[region.path], name))  # reads the whole file, so only where it is needed


def _definition_finding(
    problem: Problem, name: str, old: Definition, new: Definition, others: Sequence[str]
) -> Finding | None:
    """A finding for what is no longer used as before; `others` are the candidate's other new texts."""
    if isinstance(old, FUNCTIONS) and isinstance(new, FUNCTIONS):
        return _signature_finding(problem, name, old, new, others)
    if isinstance(old, ast.ClassDef) and isinstance(new, ast.ClassDef):
        return _members_finding(problem, name, old, new, others)
    kind = "class" if isinstance(old, ast.ClassDef) else "function"
    return Finding(error_class=SIGNATURE, message=f"`{name}` must stay a {kind}.")


def _deleted_finding(name: str) -> Finding:
    return Finding(error_class=DELETED, message=f"The answer's code leaves no `{name}` in the module.")


def _is_bound(text: str, name: str) -> bool:
    parsed = parse_fragment(text)
    if isinstance(parsed, SyntaxError) or any(qualname == name for qualname, _node in find_definitions(parsed.body)):
        return True
    owner, _dot, plain = name.rpartition(".")
    definitions = dict(find_definitions(parsed.body))
    body = definitions[owner].body if owner in definitions else parsed.body
    return any(plain in bound_names(node) for node in body) or _is_own(definitions.get(f"{owner}.__init__"), plain)


def _is_own(constructor: ast.AST | None, name: str) -> bool:
    """True if each object gets an attribute of its own."""
    nodes = ast.walk(constructor) if constructor else ()
    return any(isinstance(node, ast.Attribute) and node.attr == name and _is_set(node) for node in nodes)


def _is_set(node: ast.Attribute) -> bool:
    return isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Name) and node.value.id == "self"


def _line_of(text: str, name: str) -> int | None:
    definitions = find_definitions(statements_of(text))
    return next((node.lineno for qualname, node in definitions if qualname == name), None)


def _members_finding(
    problem: Problem, name: str, old: ast.ClassDef, new: ast.ClassDef, others: Sequence[str]
) -> Finding | None:
    new_members = {(item.name, decorator_role(item)): item for item in new.body if isinstance(item, DEFINITIONS)}
    for item in old.body:
        if not isinstance(item, DEFINITIONS):
            continue
        new_member = new_members.get((item.name, decorator_role(item)))
        if new_member is None:
            return _deleted_finding(f"{name}.{item.name}")
        if isinstance(item, FUNCTIONS) and isinstance(new_member, FUNCTIONS):
            finding = _signature_finding(problem, f"{name}.{item.name}", item, new_member, others)
            if finding:
                return finding
    return None


def _signature_finding(
    problem: Problem, name: str, old: Function, new: Function, others: Sequence[str]
) -> Finding | None:
    """A finding for a changed signature, unless it replaces a stub `(*args, **kwargs)` or something needs the change.

    That is a call, or a test that looks at the parameters.
    """
    plain = name.rpartition(".")[2]
    if type(old) is not type(new) and _is_awaited_by_tests(problem, plain) is not isinstance(new, ast.AsyncFunctionDef):
        sentence = f"`{name}` must stay {'an async' if isinstance(old, ast.AsyncFunctionDef) else 'a plain'} function."
        return Finding(error_class=SIGNATURE, message=sentence)
    before, after = access_decorators(old), access_decorators(new)
    is_bound = not before and "." in name and after == _missing_binding(old)
    if before != after and not is_bound and not is_accessed_so_by_tests(problem, plain, before, after):
        sentence = f"`{name}` must stay {_access_name(before)}, not {_access_name(after)}."
        return Finding(error_class=SIGNATURE, message=sentence)
    takes_all = {kind for _name, kind in parameters(old)} >= {"star", "doublestar"} and is_stub(old)
    if takes_all or (parameters(old) == parameters(new) and set(defaults(old)) == set(defaults(new))):
        return None
    gets_self = "." in name and not before and parameters(new) == [("self", "plain"), *parameters(old)]
    if gets_self or _is_needed(problem, plain, old, new, others) or _is_read_by_tests(problem):
        return None
    sentence = f"`{name}({ast.unparse(old.args)})` became `({ast.unparse(new.args)})`; its parameters must stay."
    return Finding(error_class=SIGNATURE, message=sentence)


def access_decorators(node: Function) -> frozenset[str]:
    """Decorators that determine how a function is accessed."""
    access_decorators = {
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
        decorator = item.func if isinstance(item, ast.Call) else item
        names.add(decorator.attr if isinstance(decorator, ast.Attribute) else getattr(decorator, "id", ""))
    return frozenset(names & access_decorators)


def _access_name(names: frozenset[str]) -> str:
    return f"a {' and '.join(sorted(names))}" if names else "undecorated"


def _missing_binding(method: Function) -> frozenset[str]:
    """The decorator that a method without `self` lacks."""
    first = next((name for name, _kind in parameters(method)), "")
    return frozenset({"classmethod" if first == "cls" else "staticmethod"} if first != "self" else ())


def _is_awaited_by_tests(problem: Problem, name: str) -> bool | None:
    """Do the tests, or else the user's code, await the function wherever they call it, if only among others?

    None: they do so here and there, or do not call it.
    """
    nodes = list(_test_code(problem))
    if not (called := sum(_called_name(node) == name for node in nodes)):  # then the user's own code decides
        nodes = [node for text in problem.files.values() for node in walk_code(text)]
        called = sum(_called_name(node) == name for node in nodes)
    awaited = sum(_called_name(node.value) == name for node in nodes if isinstance(node, ast.Await))
    together = [node for node in nodes if isinstance(node, ast.Call) and _called_name(node) in _AWAITING]
    inner = {id(each) for node in together for argument in node.args for each in ast.walk(argument)}
    awaited += sum(id(node) in inner and _called_name(node) == name for node in nodes)
    return None if not called or 0 < awaited < called else awaited == called


def is_accessed_so_by_tests(problem: Problem, name: str, old: frozenset[str], new: frozenset[str]) -> bool:
    """Do the tests need the function to be accessed in the new way, wherever they use it?

    They read, and never call, what becomes a property; the other way round; or enter what becomes a context manager.
    """
    nodes = list(_test_code(problem))
    if new - old == {"contextmanager"}:
        return any(_called_name(node.context_expr) == name for node in nodes if isinstance(node, ast.withitem))
    calls = sum(_called_name(node) == name for node in nodes)
    reads = sum(isinstance(node, ast.Attribute) and node.attr == name for node in nodes) - calls
    if not old and new <= _PROPERTIES:
        return reads > 0 == calls
    return not new and old <= _PROPERTIES and calls > 0 == reads


def _is_needed(problem: Problem, name: str, old: Function, new: Function, others: Sequence[str]) -> bool:
    """Do the tests, or the user's other code or its new text, call it in a way that only the new parameters accept?"""
    texts = (*problem.files.values(), *others)
    nodes = (*_test_code(problem), *(node for text in texts for node in walk_code(text)))
    calls = (node for node in nodes if isinstance(node, ast.Call) and _called_name(node) == name)
    return any(not _accepts(old, node) and _accepts(new, node) for node in calls)


def _is_read_by_tests(problem: Problem) -> bool:
    """Do the tests look at the parameters of functions?"""
    words = (getattr(node, "id", "") or getattr(node, "attr", "") for node in _test_code(problem))
    return not _PARAMETERS.isdisjoint(words)


def _called_name(node: ast.AST) -> str:
    """The name of the function or method that a call calls; empty for any other node."""
    function = node.func if isinstance(node, ast.Call) else None
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _test_code(problem: Problem) -> Iterator[ast.AST]:
    """Yields the nodes of the tests."""
    region_paths = {region.path for region in problem.regions}
    test_paths = {case.path for case in problem.spec.cases}
    for path in test_paths | {path for path in problem.originals if path not in region_paths}:
        yield from walk_code(problem.originals.get(path) or "")


def _accepts(function: Function, call: ast.Call) -> bool:
    """Do the parameters accept the call's arguments? A leading self or cls is passed by Python."""
    first = next((parameter.arg for parameter in (*function.args.posonlyargs, *function.args.args)), "")
    return takes_arguments(function.args, call, is_bound=first in ("self", "cls"))


def takes_arguments(parameters: ast.arguments, call: ast.Call, *, is_bound: bool = False) -> bool:
    """Do the parameters take the call's arguments? True where `*` or `**` leaves it open.

    `is_bound`: the first parameter is not passed.
    """
    keywords = {key.arg for key in call.keywords}
    if None in keywords or any(isinstance(item, ast.Starred) for item in call.args):
        return True
    positional = [item.arg for item in (*parameters.posonlyargs, *parameters.args)]
    passed = positional[is_bound : is_bound + len(call.args)]
    if len(call.args) > len(passed) and not parameters.vararg:
        return False
    allowed = {item.arg for item in (*parameters.args, *parameters.kwonlyargs)} - set(positional[:is_bound])
    if keywords - allowed and not parameters.kwarg:
        return False
    keyword_only = zip(parameters.kwonlyargs, parameters.kw_defaults, strict=True)
    required = {
        *positional[is_bound : len(positional) - len(parameters.defaults)],
        *(item.arg for item, default in keyword_only if default is None),
    }
    return required <= keywords | set(passed) and not keywords & set(passed)
