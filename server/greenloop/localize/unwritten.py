"""Finds the unwritten functions next to one that a test has reached: they are filled together.

A test stops at the first of them, so only its text says what else it needs.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence

from greenloop.core.errors import CannotVerifyError
from greenloop.core.records.spec import Region, Target
from greenloop.localize.regions import TextOf, is_unwritten, may_change, region_at
from greenloop.project import sources
from greenloop.project.snapshot import Snapshot
from greenloop.project.syntax import definitions
from greenloop.project.syntax.definitions import left_open_functions, unwritten_functions
from greenloop.project.test_naming import is_test
from greenloop_sandbox import Failure

MOST = 12  # functions that are filled in one run
_IMPORT = re.compile(r"^[ \t]*(?:from[ \t]+[\w.]+[ \t]+)?import[ \t]+(?:\([^)]*\)|.*)", re.MULTILINE)


def members(owner: Region, text: str) -> tuple[Region, ...]:
    """The unwritten functions of a class, or of a module (without a name), in the order of the text."""
    return tuple(_unwritten(owner.path, text, owner.qualname))


def belonging(first: Region, texts: Mapping[str, str], user: str) -> tuple[Region, ...]:
    """The unwritten function that was reached, and the others in these texts that `user`, a test's text, needs too.

    `texts` are by path. In the order of their calls, as `needed`; at most `MOST`.
    """
    every = [each for path, text in texts.items() for each in _unwritten(path, text)]
    inherited = _overridden(texts)
    words = _IMPORT.sub("", user)
    others = [
        each
        for each in every
        if (each.path, each.start) != (first.path, first.start) and not _is_left_to_subclasses(each, inherited, words)
    ]
    return _needed([first], others, texts, user)


def around(chosen: Sequence[Region], texts: Mapping[str, str]) -> tuple[Region, ...]:
    """The other unwritten functions of these texts: no text says that a test needs them, but its run may come to them.

    At most `MOST`.
    """
    places = {(each.path, each.start) for each in chosen}
    every = (each for path, text in texts.items() for each in _unwritten(path, text))
    return tuple(each for each in every if (each.path, each.start) not in places)[:MOST]


def modules_around(path: str, user: str, snapshot: Snapshot, patterns: Sequence[str] | None) -> dict[str, str]:
    """The text of a module, and of those that it and the test file `user` import, by path; only what may be changed."""
    found = {path: snapshot.text(path) or ""}
    for importer in (user, path):
        for module, names, _line in sources.find_imports(snapshot.text(importer) or "", importer):
            for name in (module, *(f"{module}.{name}" for name in names)):
                imported = sources.find_module(name, snapshot.root, importer, unsaved=snapshot.buffers)
                if imported and imported not in found and may_change(imported, patterns):
                    found[imported] = snapshot.text(imported) or ""
    return found


def needed(regions: Sequence[Region], text: str, user: str) -> tuple[Region, ...]:
    """Those of some unwritten functions that `user`, a test's text, names, and those that the text of these names.

    In the order in which they are called, as far as a text can tell: constructors, then by their first mention.
    """
    return _needed([], regions, {each.path: text for each in regions}, user)


def _needed(
    found: Sequence[Region], waiting: Sequence[Region], texts: Mapping[str, str], user: str
) -> tuple[Region, ...]:
    found, waiting, words = [*found], [*waiting], _IMPORT.sub("", user)
    while new := [each for each in waiting if _is_needed(each, found, words)]:
        found += new
        waiting = [each for each in waiting if each not in new]
        words += "\n".join(definitions.line_span(texts[each.path], each.start, each.end) for each in new)
    return tuple(sorted(found, key=lambda each: _call_order(each, words))[:MOST])


def text_of_user(target: Target, text: str) -> str:
    """The text of the target's tests, and of all other code of their file except tests."""
    rows = definitions.split_lines(text)
    outline = definitions.cached_outline(text, target.path)
    for each in outline.definitions:
        is_inside = each.start <= target.end and target.start <= each.end
        if each.kind == "function" and not is_inside and is_test(each, outline):
            rows[each.start - 1 : each.end] = [""] * (each.end - each.start + 1)
    return "".join(rows)


def _unwritten(path: str, text: str, owner: str = "") -> Sequence[Region]:
    return [
        Region(path=path, qualname=each.qualname, start=each.start, end=each.end)
        for each in unwritten_functions(text, path, owner=owner)
    ]


def _overridden(texts: Mapping[str, str]) -> set[str]:
    """The methods that subclasses define anew, by `Class.method` with the name of the class that they inherit from."""
    found = set()
    for path, text in texts.items():
        listed = definitions.find_definitions(text, path)
        methods: dict[str, list[str]] = {}
        for each in listed:
            methods.setdefault(each.owner, []).append(each.name)
        for each in listed:
            for base in each.bases:
                found |= {f"{base.rpartition('.')[2]}.{name}" for name in methods.get(each.qualname, ())}
    return found


def _is_left_to_subclasses(region: Region, overridden: Collection[str], words: str) -> bool:
    """Is it a method that subclasses define, of a class that nobody makes an object of?"""
    owner, _, name = region.qualname.rpartition(".")
    owner = owner.rpartition(".")[2]
    if not name or name.startswith("__") or f"{owner}.{name}" not in overridden:
        return False
    return re.search(rf"(?<!\w){re.escape(owner)}\(", words) is None


def _is_needed(region: Region, found: Sequence[Region], words: str) -> bool:
    """Is it named, or a special or private method of a class of which something is needed?"""
    owner, _, name = region.qualname.rpartition(".")
    is_of_found = any(each.path == region.path and each.qualname.startswith(f"{owner}.") for each in found)
    if owner and not is_of_found and _position(owner, words) is None:
        return False
    return (bool(owner) and name.startswith("_")) or _position(name, words) is not None


def _call_order(region: Region, words: str) -> tuple[bool, int, int]:
    name = region.qualname.rpartition(".")[2]
    position = _position(name, words)
    return name != "__init__", len(words) if position is None else position, region.start


def _position(name: str, words: str) -> int | None:
    """Returns where a text mentions the last part of a name first."""
    match = re.search(rf"(?<!\w){re.escape(name.rpartition('.')[2])}(?!\w)", words)
    return match.start() if match else None


# -- stubs that nobody can fill ---------------------------------------------------------------------------------------


def refuse_left_open(region: Region, text: str) -> None:
    """Raises `CannotVerifyError` for an abstract method, one of a protocol, and a class that has no others to write."""
    left_open = [
        each.qualname
        for each in left_open_functions(text, region.path)
        if region.qualname in (each.qualname, each.owner)
    ]
    if not left_open or unwritten_functions(text, region.path, owner=region.qualname):
        return
    is_class = region.qualname not in left_open
    owner = region.qualname if is_class else region.qualname.rpartition(".")[0]
    subclasses = [
        each.qualname
        for each in definitions.find_definitions(text, region.path)
        if owner.rpartition(".")[2] in [base.rpartition(".")[2] for base in each.bases]
    ]
    what = f"Each unwritten method of {region.qualname}" if is_class else region.qualname
    raise CannotVerifyError(
        f"{what} is abstract or part of a protocol, so other classes implement it.",
        remedy=f"Name a class that implements it: {region.path}::{subclasses[0] if subclasses else 'NAME'}.",
    )


def refuse_unreached(region: Region, members: Sequence[Region]) -> None:
    """Raises `CannotVerifyError` for a class or module with functions to write of which no test reaches any."""
    whole = region.qualname or region.path
    documented = f"{region.path}::{members[0].qualname if members else 'NAME'}"
    raise CannotVerifyError(
        f"No test reaches a function of {whole} that is still to be written.",
        remedy=f"Name the test that needs it, write one that calls it, or name one that has a docstring: {documented}.",
    )


def refuse_at_import(failures: Iterable[Failure], test: str, text_of: TextOf, patterns: Sequence[str] | None) -> None:
    """Raises `CannotVerifyError` where a test file cannot be imported because that runs an unwritten function."""
    for failure in failures:
        frames = [region_at(each.path, each.line, text_of, patterns) for each in failure.frames]
        region = next((each for each in reversed(frames) if each), None)
        if region is not None and is_unwritten(region, text_of):
            raise CannotVerifyError(
                f"Importing {test} runs {region.qualname}, which is still to be written"
                f" ({region.path}:{region.start}), so pytest cannot list the tests.",
                remedy="Write a first version of it yourself; it is corrected as soon as the tests can be imported.",
            )
