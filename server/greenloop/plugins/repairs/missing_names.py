"""Test first: finds names that a test uses and that do not exist yet.

Python's error messages say what is missing; the test's text shows which other names it uses.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from greenloop.localize.unreached.named_by_failure import is_declared, is_enumeration
from greenloop.plugins.repairs.import_corrections import find_corrections
from greenloop.plugins.repairs.stubs import MissingNames, TextOf, missing_special_methods
from greenloop.project import sources, workspace
from greenloop.project.environment.declared_dependencies import is_third_party
from greenloop.project.environment.faults import failure_message
from greenloop.project.syntax import definitions
from greenloop.project.syntax.definitions import unwritten_functions
from greenloop_sandbox import Failure

_CANNOT = re.compile(r"cannot import name '([^']+)' from '([^']+)'")
_NO_MODULE = re.compile(r"No module named '([^']+)'(?!; '[^']*' is not a package)")
_NO_MODULE_ATTRIBUTE = re.compile(r"module '([^']+)' has no attribute '([^']+)'")
_NO_SETTER = re.compile(r"property '([^']+)' of '([^'.]+)' object has no setter")  # before Python 3.11 it has no class
_NO_ATTRIBUTE = re.compile(r"(type object )?'([^'.]+)'(?: object)? has no attribute '([^']+)'")

_BY_FIELDS = frozenset({"__lt__", "__le__", "__gt__", "__ge__", "__hash__"})


def find_missing(
    failures: Iterable[Failure],
    text_of: TextOf,
    root: Path,
    test_path: str = "",
    *,
    patterns: Sequence[str] | None = None,
) -> MissingNames | None:
    """Returns the names that must be written first, or None when the failures have another cause.

    `text_of` returns a file's text, stubs included. `test_path` is used for failures without a location.
    """
    for failure in failures:
        own = [frame for frame in failure.frames if not frame.path.startswith("/")]
        frame = next((frame for frame in reversed(own) if "site-packages" not in frame.path), None)
        path, message = frame.path if frame else test_path, failure_message(failure)
        importer = _Importer(path=path, text=(text_of(path) if path else None) or "", text_of=text_of, root=root)
        by_test = not path or sources.is_trusted(path, patterns)
        if frame and not by_test and find_corrections(message, frame.line, importer.text, path, root, text_of):
            continue  # it exists under another name
        missing = _missing_in(message, importer, by_test=by_test)
        if missing is None and by_test:
            special = missing_special_methods(failure, importer.text)
            missing = next(filter(None, (_missing_members(owner, names, importer) for owner, names in special)), None)
        if missing is not None:
            return missing
    return None


@dataclass(frozen=True, kw_only=True)
class _Importer:
    """The file that imports a name, and access to the other files."""

    path: str
    text: str
    text_of: TextOf
    root: Path

    def module(self, name: str) -> str | None:
        """Returns the file of a module, which may still be a stub, or None."""
        file = sources.find_module(name, self.root, self.path, unsaved=_Texts(self.text_of))
        if file is not None:
            return file
        path = workspace.resolve_module(name, self.root, self.path)
        return path if self.text_of(path) is not None else None


class _Texts:
    """Set of the files that have a text, saved or not."""

    def __init__(self, text_of: TextOf) -> None:
        self._text_of = text_of

    def __contains__(self, path: object) -> bool:
        return isinstance(path, str) and self._text_of(path) is not None


def _missing_in(message: str, importer: _Importer, *, by_test: bool) -> MissingNames | None:
    if match := _NO_MODULE.search(message):
        return _missing_module(match[1], importer, by_test=by_test)
    if not by_test:
        return None
    if match := _CANNOT.search(message):
        return _missing_name(match[2], match[1], importer)
    if match := _NO_MODULE_ATTRIBUTE.search(message):
        return _missing_name(match[1], match[2], importer)
    if match := _NO_SETTER.search(message):
        return _missing_setter(match[2], match[1], importer)
    match = _NO_ATTRIBUTE.search(message)
    if match and not (match[3].startswith("__") and match[3].endswith("__")):
        return _missing_members(match[2], (match[3],), importer, on_class=bool(match[1]))
    return None


def _missing_name(module: str, name: str, importer: _Importer) -> MissingNames | None:
    path = importer.module(module)
    if path is None and _is_used_as_module(importer.text, name):
        return _missing_module(f"{module}.{name}", importer, by_test=True)
    if path is None or sources.is_trusted(path):
        return None
    bound_names = _bound_names(importer.text_of(path) or "")
    if name in bound_names:
        return None  # It exists, but not at the time of the import: a circular import, or a condition.
    if path.endswith("__init__.py"):
        package = path.removesuffix("__init__.py")
        if (importer.root / f"{package}{name}.py").exists() or (importer.root / package / name).is_dir():
            return None  # A module that nothing imports yet; a function of its name would hide it.
        if _is_used_as_module(importer.text, name):
            members = _members(importer.text, name)
            return MissingNames(path=f"{package}{name}.py", names=members, uses=importer.text)
    names = [item for item in dict.fromkeys([name, *_used_names(importer, module)]) if item not in bound_names]
    return MissingNames(path=path, names=tuple(names), uses=importer.text)


def _missing_module(module: str, importer: _Importer, *, by_test: bool) -> MissingNames | None:
    top = module.partition(".")[0]
    root = importer.root
    local = importer.module(top) is not None or (root / top).is_dir() or (root / "src" / top).is_dir()
    if not local and (not by_test or is_third_party(top, root)):
        return None
    if module == top and sources.find_off_path(top, root, importer.path):
        return None  # The project that has it is not installed.
    parent = module.rpartition(".")[0]
    parent_file = importer.module(parent) if parent else None
    if parent_file is not None and not parent_file.endswith("__init__.py"):
        return None  # The parent is a plain module: it would have to become a package first.
    path = workspace.resolve_module(module, root, importer.path)
    if importer.text_of(path) is not None or sources.is_trusted(path):
        return None
    if by_test and (submodule := _first_submodule(importer, module)):  # a package, whose folder is made by its module
        return _missing_module(submodule, importer, by_test=by_test)
    names = _used_names(importer, module)
    return MissingNames(path=path, names=tuple(names), uses=importer.text) if names else None


def _first_submodule(importer: _Importer, module: str) -> str:
    """The first module of a package that the importer names; empty where it uses the package as a module."""
    for source, imported, _line in sources.find_imports(importer.text, importer.path):
        if source.startswith(f"{module}."):
            return source
        if source == module and (names := [name for name in imported if _is_used_as_module(importer.text, name)]):
            return f"{module}.{names[0]}"
    return ""


def _is_used_as_module(text: str, name: str) -> bool:
    """Does the text only read attributes of the name?"""
    return name.islower() and bool(_members(text, name)) and not re.search(rf"(?<![\w.]){re.escape(name)}\(", text)


def _used_names(importer: _Importer, module: str) -> list[str]:
    """Lists what a test uses of a module: the names that it imports from it, or the attributes that it reads."""
    names: list[str] = []
    file = importer.module(module)
    text = importer.text
    for source, imported, _line in sources.find_imports(text, importer.path):
        if source == module or (file is not None and importer.module(source) == file):
            names.extend(name for name in imported if name != "*")
            names.extend(() if imported else _members(text, _alias(text, source)))
        else:
            module_names = [name for name in imported if f"{source}.{name}" == module]
            names.extend(member for name in module_names for member in _members(text, _alias(text, name)))
    return list(dict.fromkeys(names))


def _alias(text: str, module: str) -> str:
    match = re.search(rf"\b{re.escape(module)}[ \t]+as[ \t]+(\w+)", text)
    return match[1] if match else module


def _members(text: str, name: str) -> tuple[str, ...]:
    """Returns the `x` of every `name.x` in the text."""
    code = "\n".join(line for line in text.splitlines() if not re.match(r"\s*(?:import|from)\s", line))
    return tuple(dict.fromkeys(re.findall(rf"(?<![\w.]){re.escape(name)}\.([^\W\d]\w*)", code)))


def _bound_names(text: str) -> set[str]:
    """Returns the names that a module visibly binds at its top level."""
    names = {name for item in definitions.find_bindings(text) for name in item.names}
    return names | {item.name for item in definitions.find_definitions(text) if not item.owner}


# -- members of classes ---------------------------------------------------------------------------------------------


def _missing_members(
    owner: str, names: tuple[str, ...], importer: _Importer, *, on_class: bool = False
) -> MissingNames | None:
    word = "|".join(map(re.escape, names))
    # The class or a base sets it somewhere, but too late: a mistake in existing code.
    assigned = re.compile(
        rf"\bself\.(?:{word})\b[^=\n]*=(?!=)|^\s+(?:{word})\s*[:=]|['\"](?:{word})['\"]", re.MULTILINE
    )
    defined = re.compile(rf"\bdef (?:{word})\b")
    for path in _class_files(owner, importer):
        content = importer.text_of(path) or ""
        classes = _classes(owner, content, path)
        if len(classes) != 1:
            continue
        own, *others = (
            definitions.line_span(content, item.start, item.end)
            for item in (classes[0], *_bases(classes[0], content, path))
        )
        if defined.search(own) or any(assigned.search(text) for text in (own, *others)):
            return None
        if on_class and is_enumeration(classes[0], content):
            return None
        if is_declared(classes[0], content) and _is_of_fields(names, on_class, importer.text):
            return None  # its definition lacks that
        if any(each.name == "__init__" for each in unwritten_functions(content, path, owner=classes[0].qualname)):
            return None  # it may well be what sets the attribute
        return MissingNames(path=path, names=names, owner=classes[0].qualname, on_class=on_class, uses=importer.text)
    return None


def _is_of_fields(names: tuple[str, ...], on_class: bool, uses: str) -> bool:
    """Are the members what a record or an enumeration has by its fields: an attribute, an order, a hash?"""
    if {*names} <= _BY_FIELDS:
        return True
    is_called = any(re.search(rf"\.{re.escape(name)}\(", uses) for name in names)
    return not on_class and not is_called and not any(name.startswith("__") for name in names)


def _missing_setter(owner: str, name: str, importer: _Importer) -> MissingNames | None:
    for path in _class_files(owner, importer):
        content = importer.text_of(path) or ""
        classes = _classes(owner, content, path)
        own = definitions.line_span(content, classes[0].start, classes[0].end) if len(classes) == 1 else ""
        if re.search(rf"\bdef {re.escape(name)}\b", own):
            qualname = classes[0].qualname
            return MissingNames(path=path, names=(name,), owner=qualname, sets=True, uses=importer.text)
    return None


def _classes(name: str, content: str, path: str) -> list[definitions.Definition]:
    return [each for each in definitions.find_definitions(content, path) if each.kind == "class" and each.name == name]


def _bases(item: definitions.Definition, content: str, path: str) -> list[definitions.Definition]:
    """Its bases in the same file, and theirs."""
    header = definitions.identifiers(definitions.line_span(content, item.name_line, item.header_end)) - {item.name}
    listed = definitions.find_definitions(content, path)
    bases = [each for each in listed if each.kind == "class" and each.name in header and each.start < item.start]
    return [*bases, *(more for each in bases for more in _bases(each, content, path))]


def _class_files(owner: str, importer: _Importer) -> list[str]:
    """Lists workspace files that may define the class; those that the test imports come first."""
    imported = [importer.module(module) for module, _names, _line in sources.find_imports(importer.text, importer.path)]
    imported_files = [path for path in imported if path is not None]
    other_files = sources.python_files(importer.root, most=3000)
    needle = re.compile(rf"^\s*class\s+{re.escape(owner)}\b", re.MULTILINE)
    paths = []
    for path in dict.fromkeys([*imported_files, *other_files]):
        text = importer.text_of(path) if path in imported_files else sources.read_text(importer.root, path)
        if not sources.is_trusted(path) and needle.search(text or ""):
            paths.append(path)
    return paths
