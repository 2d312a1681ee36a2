"""A model that answers with the solution's text of the functions and assignments it is asked about, and no others.

It measures localisation without a model: a function that nobody asks about stays as it is. Where a question shows the
outline of a file or class, and so asks about all of it, the answer has whatever the solution changes there.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from greenloop.core.python.assignments import find_assignments
from greenloop.core.python.ast_source import FUNCTIONS, Fragment, find_definitions, parse_module, start_line
from greenloop.core.python.names import bound_names, free_names
from greenloop.core.records.model import ChatRequest, InfillRequest, Reply, Usage
from greenloop.core.text.diff import with_plain_ends
from greenloop.core.text.tokens import estimate_messages, estimate_tokens
from greenloop.drafting.infill import OMITTED
from greenloop_lab.bench.recordings import ORACLE
from greenloop_lab.bench.tasks import Task

NOTHING = "I know nothing of that name."
_OUTLINE = re.compile(r"^The outline of `([^`]+)`:$", re.MULTILINE)
_QUOTED = re.compile(r"`([\w.]+(?:, [\w.]+)*)`")


class Oracle:
    """Knows the files that a task's solution changes, and answers a chat or a hole from them."""

    def __init__(self, task: Task, own_text: Callable[[str], str | None] = lambda _path: None) -> None:
        """`own_text` gives the user's text of a file, where there is one."""
        self._places: dict[str, list[_Place]] = {}
        for path, text in task.solution.items():
            own = {each.name: each.lines for each in _read_places(own_text(path) or "")}
            for each in _read_classes(text) if path not in task.files else ():
                self._places.setdefault(each.name, []).append(each)
            for each in _read_places(text, own):
                place = replace(each, own=frozenset(line.strip() for line in own.get(each.name, ())))
                self._places.setdefault(each.name, []).append(place)
        self._changed = {path: _changed(own_text(path), text) for path, text in task.solution.items()}

    @property
    def name(self) -> str:
        return ORACLE

    @property
    def context(self) -> int:
        """As large models have it, so that nothing is missed for lack of room."""
        return 128_000

    async def complete(self, request: ChatRequest, on_token: Callable[[str], None]) -> Reply:
        """The text of what the user's messages quote (as `name`), the last message first."""
        text = self._answer([message.content for message in request.messages if message.role == "user"])
        on_token(text)
        return _reply(text, estimate_messages(request.messages))

    async def infill(self, request: InfillRequest, on_token: Callable[[str], None]) -> Reply:
        """Returns the solution's text for the hole, where it agrees with the text before and after it; else nothing."""
        places = chain.from_iterable(self._places.values())
        fillings = (fill(each.lines, request.prefix, request.suffix) for each in places)
        text = next((each for each in fillings if each is not None), "")
        for mark in request.stop:
            text = text.partition(mark)[0]
        if text:
            on_token(text)
        return _reply(text, estimate_tokens(request.prefix + request.suffix))

    def count_tokens(self, text: str) -> int:
        return estimate_tokens(text)

    async def close(self) -> None:
        """Does nothing."""

    def _answer(self, texts: Sequence[str]) -> str:
        for text in reversed(texts):
            names = [name for quoted in _QUOTED.findall(text) for name in quoted.split(", ")]
            names += [name for place in _OUTLINE.findall(text) for name in self._changed_in(place)]
            if found := [self._find(name, text).answer for name in dict.fromkeys(names) if name in self._places]:
                return "\n".join(f"```python\n{each}\n```\n" for each in found)
        return NOTHING

    def _changed_in(self, place: str) -> list[str]:
        """The names of what the solution changes in a file or in a class (`path::Class`)."""
        path, _colons, owner = place.partition("::")
        return [name for name in self._changed.get(path, ()) if not owner or name.startswith(f"{owner}.")]

    def _find(self, name: str, text: str) -> _Place:
        """The place of this name; where several files have one, that whose own code the question shows."""
        shown = {line.strip() for line in text.split("\n")}
        return max(reversed(self._places[name]), key=lambda each: len(each.own & shown) / max(len(each.own), 1))


@dataclass(frozen=True, kw_only=True)
class _Place:
    """A function or assignment of the solution: its lines in the file, and a block of code that has what it needs.

    `own` are the lines of the user's code of it, without indentation.
    """

    name: str
    lines: Sequence[str]
    answer: str
    own: frozenset[str] = frozenset()


def _read_places(text: str, own: Collection[str] = ()) -> Iterator[_Place]:
    """`own` are the names of the user's file: a method's answer has what it uses of its class and these lack."""
    module = parse_module(text)
    if isinstance(module, SyntaxError):
        return
    file_lines = with_plain_ends(text).split("\n")
    source = Fragment(lines=tuple(file_lines), body=tuple(module.body))
    functions = [(name, node) for name, node in find_definitions(module.body) if isinstance(node, FUNCTIONS)]
    nodes = dict((*functions, *find_assignments(source).items()))
    for name, node in nodes.items():
        lines = _lines_of(node, file_lines)
        code = textwrap.dedent("\n".join(lines))
        owner = name.rpartition(".")[0]
        used = {f"{owner}.{each.attr}" for each in ast.walk(node) if owner and isinstance(each, ast.Attribute)}
        new = [each for each in nodes if each in used and each not in own and each != name]
        parts = [_lines_of(nodes[each], file_lines) for each in new]
        code = "\n\n".join([*(textwrap.dedent("\n".join(part)) for part in parts), code])
        for outer in reversed(name.split(".")[:-1]):
            if _is_class(module, outer):
                code = f"class {outer}:\n{textwrap.indent(code, '    ')}"
        yield _Place(name=name, lines=lines, answer="\n\n".join([*_needed_names(module, code, name), code]))


def _read_classes(text: str) -> Iterator[_Place]:
    """The classes of a module that is to be written, each as a whole."""
    module = parse_module(text)
    file_lines = with_plain_ends(text).split("\n")
    if isinstance(module, SyntaxError):
        return
    for node in module.body:
        if isinstance(node, ast.ClassDef):
            lines = _lines_of(node, file_lines)
            code = "\n".join(lines)
            yield _Place(
                name=node.name, lines=lines, answer="\n\n".join([*_needed_names(module, code, node.name), code])
            )


def _lines_of(node: ast.stmt, lines: Sequence[str]) -> Sequence[str]:
    return lines[start_line(node, lines) - 1 : node.end_lineno]


def _changed(own: str | None, solution: str) -> list[str]:
    """The names of what the solution has differently, or more, than the user's text."""
    known = {place.name: place.lines for place in _read_places(own)} if own is not None else {}
    return [place.name for place in _read_places(solution) if own is not None and known.get(place.name) != place.lines]


def _is_class(module: ast.Module, name: str) -> bool:
    return any(isinstance(node, ast.ClassDef) and node.name == name for node in ast.walk(module))


def _needed_names(module: ast.Module, code: str, name: str) -> list[str]:
    """The imports, functions and assignments of the module that the code uses, directly or through one another."""
    own = name.partition(".")[0]
    statements = [node for node in module.body if own not in bound_names(node) and not isinstance(node, ast.ClassDef)]
    chosen: dict[int, str] = {}
    wanted = free_names(code)
    size = -1
    while size != len(chosen):
        size = len(chosen)
        for index, node in enumerate(statements):
            if index not in chosen and bound_names(node) & wanted:
                chosen[index] = ast.unparse(node)
                wanted |= free_names(chosen[index])
    return [chosen[index] for index in sorted(chosen)]


def fill(lines: Sequence[str], prefix: str, suffix: str) -> str | None:
    """The lines of a function between the end of `prefix` and the beginning of `suffix`; None where it does not agree.

    The prefix ends with the indentation of the hole; other text may precede the function in it, and a part of the
    function may be left out.
    """
    head, _newline, indent = prefix.rpartition("\n")
    head = head.rpartition(f"{OMITTED}\n")[2]
    above, below = head.split("\n"), suffix.strip("\n").split("\n") if suffix.strip("\n") else []
    for start in range(len(lines), 0, -1):
        shown = min(start, len(above))
        if above[-shown:] != list(lines[:start])[-shown:]:
            continue
        for end in range(start, len(lines) + 1):
            rest = list(lines[end:])
            if rest == below or (len(rest) > len(below) > 0 and rest[: len(below)] == below):
                middle = "\n".join(lines[start:end])
                return middle.removeprefix(indent)
    return None


def _reply(text: str, prompt_tokens: int) -> Reply:
    usage = Usage(prompt_tokens=prompt_tokens, completion_tokens=estimate_tokens(text))
    return Reply(text=text, usage=usage, model=ORACLE)
