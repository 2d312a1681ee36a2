"""What must hold: the source of the target tests, with the fixtures, helpers and data of the same file they use."""

from __future__ import annotations

from collections.abc import Sequence

from greenloop import syntax
from greenloop.core.nouns import Case, Excerpt, Problem, Provenance
from greenloop.core.ports import Tools
from greenloop.syntax import Definition

MOST_TESTS = 6  # tests of one class or file that are shown; the failing output names the others


async def gather(problem: Problem, tools: Tools) -> Sequence[Excerpt]:
    """For each test file one excerpt with its target tests, and one with what they lean on. Doctest examples stand in
    the docstring, which the code shows already.
    """
    del tools
    cases = [case for case in problem.spec.cases if case.provenance is not Provenance.DOCTEST]
    excerpts = []
    for path in dict.fromkeys(case.path for case in cases):
        text = problem.files.get(path)
        if text is None:
            continue
        found = syntax.definitions(text, path)
        tests = _tests(found, [case for case in cases if case.path == path])
        if not tests:
            continue
        if leaned := _used(text, path, tests):
            excerpts.append(Excerpt(title=f"What the tests in `{path}` use:", text=leaned, value=0.5))
        excerpts.append(
            Excerpt(title=f"The tests that must pass, in `{path}`:", text=_source(text, found, tests), value=0.9)
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
    return list(chosen.values())[:MOST_TESTS]


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


def _used(text: str, path: str, tests: Sequence[Definition]) -> str:
    """Imports, data, fixtures and helpers of the file that the tests mention, or that those mention in turn."""
    found = syntax.definitions(text, path)
    names = {item.qualname for item in tests}
    owners = {item.owner for item in tests} - {""}
    words = set[str]()
    for item in tests:
        words |= syntax.words(syntax.span(text, item.start, item.end))
    taken: dict[int, str] = {}
    for _round in range(3):
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
    return _plain(
        "\n\n".join(filter(None, ["\n".join(_statements(text, words)), *(taken[key] for key in sorted(taken))]))
    )


def _statements(text: str, words: set[str]) -> list[str]:
    """Imports and data at the top level that the tests mention; pytest's own import says nothing."""
    taken = [item for item in syntax.bindings(text) if set(item.names) & (words - {"pytest", "unittest"})]
    return [_plain(syntax.span(text, item.start, item.end)).strip("\n") for item in taken]


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")
