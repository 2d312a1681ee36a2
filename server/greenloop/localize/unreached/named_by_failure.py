"""Finds functions and classes that a failure, or the test's text, names without having run them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from greenloop.core.classify import named_functions
from greenloop.core.records.spec import Region
from greenloop.localize.regions import TextOf
from greenloop.project import sources
from greenloop.project.syntax import definitions
from greenloop.project.syntax.definitions import Definition
from greenloop_sandbox import Failure

_MEMBER = re.compile(r"(?:type object '\w+' has no attribute ')?(\w+)'?")  # of an enumeration, that it does not have
_NO_MEMBER = "AttributeError"
_SCRIPT = re.compile(r"['\"/]([\w./-]+\.py)['\"]")
_MODULE = re.compile(r"['\"]-m['\"],\s*['\"]([\w.]+)['\"]")
_CALL = re.compile(r"\b([^\W\d]\w*)\(")
MOST_FILES = 3000  # that a program is looked for in
MOST_FUNCTIONS = 10
MOST_USED = 3  # classes and functions that did not run, but that a test names
MOST_CALLED = 6  # existing functions that a test calls together with missing ones
MOST_PLAIN = 2  # classes without functions that a test names
LONGEST_CLASS = 80  # lines of a class that is changed as a whole
_NAME = re.compile(r"\b[^\W\d]\w*")
_CLASS = re.compile(r"^[ \t]*class[ \t]+(\w+)", re.MULTILINE)
_RELATION = re.compile(r"where False = (?:issubclass|isinstance)\(")
_ENUMERATION = re.compile(r"\b(?:\w*Enum|\w*Flag)\b")
_RECORD = re.compile(r"@(?:\w+\.)?(?:dataclass|define|frozen|attrs|s)\b|\b(?:NamedTuple|BaseModel|Struct)\b")
# What a class lacks of which the definition decides, not a method: a field, or that it is compared by its fields.
_LACKING = re.compile(
    r"^'(?P<one>\w+)' object has no attribute|'[<>]=?' not supported between instances of '(?P<two>\w+)'"
    r"|unhashable type: '(?P<three>\w+)'"
)


def names_something(failures: Iterable[Failure | None]) -> bool:
    """True if there is something to find at all."""
    known = [each for each in failures if each]
    return bool(named_functions(known)) or any(map(_member, known)) or any(map(_lacking, known))


def find_named(failures: Iterable[Failure | None], texts: Mapping[str, str], uses: str) -> list[Region]:
    """The functions of these files, by path, that the failures name, and classes whose definition makes what they name.

    That is the constructor of a class that writes none, a member of an enumeration that `uses`, the test's text, names,
    or what the fields of a record decide.
    """
    known = [each for each in failures if each]
    names = named_functions(known)
    members = {*filter(None, map(_member, known))}
    lacking = {*filter(None, map(_lacking, known))}
    found = []
    for path, text in texts.items():
        listed = definitions.find_definitions(text, path)
        named = [_definition(name, listed) for name in names]
        named += [
            each
            for each in listed
            if any(f"{each.name}.{member}" in uses for member in members) and is_enumeration(each, text)
        ]
        named += [each for each in listed if each.name in lacking and is_declared(each, text)]
        found += [_region(path, item) for item in dict.fromkeys(named) if item]
    return found


def find_called(failures: Iterable[Failure | None], texts: Mapping[str, str], text_of: TextOf) -> list[Region]:
    """The functions of these files, by path, that the failing lines call: what is around them did not let them run."""
    frames = [frame for failure in failures if failure for frame in failure.frames[-1:]]
    rows = [definitions.line_span(text_of(each.path) or "", each.line, each.line) for each in frames]
    names = dict.fromkeys(name for row in rows for name in _CALL.findall(row))
    listed = ((path, definitions.find_definitions(text, path)) for path, text in texts.items())
    found = [(path, _definition(name, items)) for path, items in listed for name in names]
    return [_region(path, item) for path, item in found if item]


def find_used(
    failures: Iterable[Failure | None], texts: Mapping[str, str], text_of: TextOf, *, most: int = MOST_USED
) -> list[Region]:
    """The classes and functions of these files that the failing lines name; where they name none, their tests do.

    A class with more than `LONGEST_CLASS` lines is not changed as a whole.
    """
    own = ([each for each in failure.frames if not each.path.startswith("/")] for failure in failures if failure)
    frames = [each for frames in own for each in frames[-1:]]
    tests = [text_of(each.path) or "" for each in frames]
    rows = [definitions.line_span(text, each.line, each.line) for each, text in zip(frames, tests, strict=True)]
    around = (definitions.enclosing_definition(text, each.line) for each, text in zip(frames, tests, strict=True))
    whole = [
        definitions.line_span(text, each.start, each.end) for each, text in zip(around, tests, strict=True) if each
    ]
    listed = {path: definitions.find_definitions(text, path) for path, text in texts.items()}
    for shown in (rows, whole):
        names = dict.fromkeys(name for row in shown for name in _NAME.findall(row))
        found = [(path, definitions.find_by_qualname(items, name)) for name in names for path, items in listed.items()]
        chosen = [_region(path, item) for path, item in found if item and _is_short_enough(item)]
        if chosen:
            return chosen[:most]
    return []


def find_called_by(uses: str, text: str, path: str, *, most: int = MOST_CALLED) -> list[Region]:
    """The functions and methods of a file that `uses`, a test's text, calls by name, in the order of the calls."""
    names = list(dict.fromkeys(_CALL.findall(uses)))
    called = [
        each for each in definitions.find_definitions(text, path) if each.kind == "function" and each.name in names
    ]
    return [_region(path, each) for each in sorted(called, key=lambda each: names.index(each.name))][:most]


def find_plain_classes(uses: str, texts: Mapping[str, str], *, most: int = MOST_PLAIN) -> list[Region]:
    """The classes without functions that `uses`, a test's text, names in these files: no run can reach them."""
    found = []
    names = {*_NAME.findall(uses)}
    for path, text in texts.items():
        if names.isdisjoint(_CLASS.findall(text)):
            continue
        listed = definitions.find_definitions(text, path)
        owners = {each.qualname.rpartition(".")[0] for each in listed}
        classes = [each for each in listed if each.kind == "class" and each.name in names]
        found += [_region(path, each) for each in classes if each.qualname not in owners and _is_short_enough(each)]
    return found[:most]


def is_about_classes(failures: Iterable[Failure | None]) -> bool:
    """Does a failure say that a class is not derived from another?"""
    return any(_RELATION.search(f"{each.message}\n{each.text}") for each in failures if each)


def _is_short_enough(item: Definition) -> bool:
    return item.kind == "function" or item.end - item.start < LONGEST_CLASS


def find_in_scripts(uses: str, root: Path, text_of: TextOf) -> list[Region]:
    """The functions of programs that `uses`, a test's text, names by file (`"app.py"`) or module (`"-m", "app"`)."""
    wanted = {*_SCRIPT.findall(uses), *(f"{module.replace('.', '/')}.py" for module in _MODULE.findall(uses))}
    files = sources.python_files(root, most=MOST_FILES) if wanted else []
    paths = [path for path in files if any(f"/{path}".endswith(f"/{name.lstrip('./')}") for name in wanted)]
    listed = ((path, definitions.find_definitions(text_of(path) or "", path)) for path in paths)
    functions = [_region(path, item) for path, items in listed for item in items if item.kind == "function"]
    return functions[:MOST_FUNCTIONS]


def _member(failure: Failure) -> str | None:
    match = _MEMBER.fullmatch(failure.message) if failure.type == _NO_MEMBER else None
    return match[1] if match else None


def _lacking(failure: Failure) -> str | None:
    match = _LACKING.search(failure.message)
    return match[match.lastgroup] if match and match.lastgroup else None


def _region(path: str, item: Definition) -> Region:
    return Region(path=path, qualname=item.qualname, start=item.start, end=item.end)


def is_enumeration(item: Definition, text: str) -> bool:
    """True if a class is one, as far as its bases tell."""
    header = definitions.line_span(text, item.name_line, item.header_end)
    return item.kind == "class" and bool(_ENUMERATION.search(header.partition(item.name)[2]))


def is_declared(item: Definition, text: str) -> bool:
    """True if a class is an enumeration or a record (a dataclass, a named tuple, a model), which lists what it has."""
    header = definitions.line_span(text, item.start, item.header_end)
    return item.kind == "class" and (bool(_RECORD.search(header)) or is_enumeration(item, text))


def _definition(name: str, listed: tuple[Definition, ...]) -> Definition | None:
    item = definitions.find_by_qualname(listed, name)
    if item is None and name.endswith(".__init__"):
        return definitions.find_by_qualname(listed, name.removesuffix(".__init__"))
    return item if item and item.kind == "function" else None
