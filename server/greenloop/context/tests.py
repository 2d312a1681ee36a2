"""What must hold: the source of the target tests, with the fixtures, helpers and data of the same file they use."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from pathlib import PurePosixPath

from greenloop import sources, syntax
from greenloop.core.choice import MOST, choose
from greenloop.core.nouns import Case, Excerpt, Problem, Provenance
from greenloop.core.ports import Tools
from greenloop.syntax import Definition

ROUNDS = 3  # what the tests use, what that uses, and what that uses in turn


async def gather(problem: Problem, tools: Tools) -> Sequence[Excerpt]:
    """For each test file one excerpt with its target tests, and one with what they lean on; fixtures of conftest files
    by themselves. Of many tests those that come to the code from different callers are shown.

    Doctest examples stand in the docstring, which the code shows already.
    """
    del tools
    cases = [case for case in problem.spec.cases if case.provenance is Provenance.USER]
    several = len({case.id.partition("[")[0] for case in cases}) > MOST
    shown = choose(cases, problem.approaches) if several else cases
    excerpts: list[Excerpt] = []
    for path in dict.fromkeys(case.path for case in shown):
        text = problem.files.get(path)
        if text is None:
            continue
        found = syntax.definitions(text, path)
        tests = _tests(found, [case for case in shown if case.path == path])
        if not tests:
            continue
        leaned, words = _used(text, path, tests)
        excerpts += _shared(problem, path, words - {item.name for item in found})
        if leaned:
            excerpts.append(Excerpt(title=f"What the tests in `{path}` use:", text=leaned, value=0.5))
        total = len({case.id.partition("[")[0] for case in cases if case.path == path})
        counted = f"{len(tests)} of the {total} tests" if several and len(tests) < total else "The tests"
        excerpts.append(
            Excerpt(title=f"{counted} that must pass, in `{path}`:", text=_source(text, found, tests), value=0.9)
        )
    return excerpts


def _tests(found: Sequence[Definition], cases: Sequence[Case]) -> list[Definition]:
    """The functions of the cases: by name, else (tests made by a base class or a plug-in) by line."""
    chosen: dict[str, Definition] = {}
    for case in cases:
        _path, _colons, name = case.id.partition("::")
        item = syntax.lookup(found, name.partition("[")[0].replace("::", "."))
        if item is None:
            item = next((other for other in reversed(found) if other.start <= case.line <= other.end), None)
        if item is not None:
            chosen.setdefault(item.qualname, item)
    return list(chosen.values())[:MOST]


def _shared(problem: Problem, path: str, words: AbstractSet[str]) -> Iterator[Excerpt]:
    """Fixtures of the conftest files above the tests that they, or those in turn, name; the nearest file first."""
    wanted, taken = {*words}, set[str]()
    for folder in PurePosixPath(path).parents:
        conftest = str(folder / "conftest.py")
        text = problem.files.get(conftest) or sources.text(problem.root, conftest, problem.buffers) or ""
        fixtures = [
            item for item in syntax.definitions(text, conftest) if any("fixture" in mark for mark in item.decorators)
        ]
        mine: dict[int, str] = {}
        for _round in range(ROUNDS):
            for item in fixtures:
                if item.name in wanted - taken and item.start not in mine:
                    mine[item.start] = syntax.span(text, item.start, item.end).rstrip()
                    taken.add(item.name)
                    wanted |= syntax.words(mine[item.start])
        if mine:
            shown = _plain("\n\n".join(mine[line] for line in sorted(mine)))
            yield Excerpt(title=f"Fixtures in `{conftest}`:", text=shown, value=0.45)


def _source(text: str, found: Sequence[Definition], tests: Sequence[Definition]) -> str:
    parts: list[str] = []
    shown: set[str] = set()
    for item in sorted(tests, key=lambda item: item.start):
        owner = syntax.lookup(found, item.owner) if item.owner else None
        if owner is not None and owner.qualname not in shown:
            shown.add(owner.qualname)
            parts.append(syntax.span(text, owner.start, owner.header_end).rstrip())
        parts.append(syntax.span(text, item.start, item.end).rstrip())
    return _plain("\n\n".join(parts))


def _used(text: str, path: str, tests: Sequence[Definition]) -> tuple[str, set[str]]:
    """Imports, data, fixtures and helpers of the file that the tests mention, or those in turn; and all the words."""
    found = syntax.definitions(text, path)
    names = {item.qualname for item in tests}
    owners = {item.owner for item in tests} - {""}
    words = set[str]()
    for item in tests:
        words |= syntax.words(syntax.span(text, item.start, item.end))
    taken: dict[int, str] = {}
    for _round in range(ROUNDS):
        before = len(taken)
        for item in found:
            mine = not item.owner and item.name in words and item.qualname not in owners
            set_up = item.owner in owners and (
                item.name in {"setUp", "setup_method", "setUpClass"} or item.name in words
            )
            automatic = not item.owner and any("autouse" in mark for mark in item.decorators)
            if item.qualname not in names and item.start not in taken and (mine or set_up or automatic):
                taken[item.start] = syntax.span(text, item.start, item.end).rstrip()
                words |= syntax.words(taken[item.start])
        if len(taken) == before:
            break
    parts = ["\n".join(_statements(text, words)), *(taken[key] for key in sorted(taken))]
    return _plain("\n\n".join(filter(None, parts))), words


def _statements(text: str, words: set[str]) -> list[str]:
    """Imports and data at the top level that the tests mention; pytest's own import says nothing."""
    taken = [item for item in syntax.bindings(text) if set(item.names) & (words - {"pytest", "unittest"})]
    return [_plain(syntax.span(text, item.start, item.end)).strip("\n") for item in taken]


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")
