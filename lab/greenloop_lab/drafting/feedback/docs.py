"""Looks up a library's API where a candidate used a missing name of it or called it wrongly.

The lookup runs in the sandbox, in the user's own packages, and never on the host; it gives the intended name, its
signature and the first words of its documentation. Failed assertions and the workspace's own code are left out.
"""

from __future__ import annotations

import ast
import builtins
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from greenloop.core.ports import Tools
from greenloop.core.python.ast_source import DEFINITIONS, walk_code
from greenloop.core.records.attempt import Attempt, FeedbackNote
from greenloop.core.records.model import Usage
from greenloop.core.records.problem import Problem
from greenloop.drafting.feedback._failing_lines import Sources, attempt_sources
from greenloop.drafting.feedback._value_diff import shorten
from greenloop_sandbox import CaseResult, Failure, TestRun, case_results

MOST = 3  # maximum questions about one attempt
SECONDS = 10.0  # for the lookup, imports included
LINE = 300  # maximum characters of one message or answer
NAMES = 300  # characters of an owner's list of names, beyond which it is left out
FILE = "test_greenloop_api_lookup.py"
LOOKUP = Path(__file__).with_name("_api_lookup.py")
CALLS = 2  # calls of one line that are looked up
MODULES = 20  # imported modules of a text that are searched
LOOKED = 20  # failing cases that are read

BUILTINS = frozenset(dir(builtins))

Question = Mapping[str, Any]

_MODULE = re.compile(r"^module '([\w.]+)' has no attribute '(\w+)'")
_TYPE = re.compile(r"^(?:type object )?'([\w.]+)'(?: object)? has no attribute '(\w+)'")
_IMPORT = re.compile(r"^cannot import name '(\w+)' from '([\w.]+)'")
_NO_MODULE = re.compile(r"^No module named '([\w.]+)'")
_NAME = re.compile(r"^name [`'](\w+)[`'] is not defined")
_CALL = re.compile(r"^([\w.<>]+)\(\) |for ([\w.<>]+)\(\)$")


async def describe(problem: Problem, attempts: Sequence[Attempt], tools: Tools) -> FeedbackNote:
    """The real API for names that the newest attempt got wrong; an empty note where it got none wrong."""
    lookups = find_questions(problem, attempts[-1])
    if not lookups:
        return FeedbackNote(text="")
    run = TestRun(selectors=(FILE,), files={**problem.buffers, FILE: lookup_file(lookups)}, seconds=SECONDS)
    execution = await tools.session.run(run)
    results = {} if execution.broken else {result.id: result for result in case_results(execution)}
    lines = []
    for number, question in enumerate(lookups):
        lines += _answer_rows(question, _answer(results.get(f"{FILE}::ApiLookup::test_{number}")))
    return FeedbackNote(text="\n".join(dict.fromkeys(lines)), usage=Usage(test_seconds=execution.seconds))


def lookup_file(questions: Sequence[Question]) -> bytes:
    """The test file that answers these questions, each with the message of a failing test."""
    tail = f"\n\nApiLookup = make_test_class(json.loads({json.dumps(list(questions))!r}))\n"
    return LOOKUP.read_bytes() + tail.encode()


def find_questions(problem: Problem, attempt: Attempt) -> list[Question]:
    """The questions that an attempt's failure messages raise; none for failed assertions."""
    texts = attempt_sources(problem, attempt)
    by_key: dict[str, Question] = {}
    finding = attempt.finding
    if finding and finding.error_class == "UndefinedName":
        failures = [Failure(type="NameError", message=finding.message)]
    else:
        failures = [case.failure for case in attempt.verdict.failing[:LOOKED] if case.failure]
    for failure in failures:
        paths = [frame.path for frame in failure.frames if frame.path in texts]
        paths = [*dict.fromkeys(reversed(paths)), *(region.path for region in problem.regions)]
        text = texts.get(paths[0], "") if paths else ""
        for question in _questions_about(failure, text, texts):
            by_key.setdefault(json.dumps(question), {**question, "modules": _modules(text)})
    return list(by_key.values())[:MOST]


def _questions_about(failure: Failure, text: str, texts: Sources) -> Iterator[Question]:
    kind, message = failure.type.rpartition(".")[2], failure.message[:LINE]
    defined = _defined_names(text)
    if kind == "AttributeError":
        match = _MODULE.match(message) or _TYPE.match(message)
        if match and match[1] != "NoneType" and match[1].split(".")[-1] not in defined:
            yield _question("attribute", match[1], match[2])
    elif kind in {"ImportError", "ModuleNotFoundError"}:
        if match := _IMPORT.match(message):
            yield _question("attribute", match[2], match[1])
        elif match := _NO_MODULE.match(message):
            yield _question("module", "", match[1])
    elif kind == "NameError":
        if match := _NAME.match(message):
            yield _question("name", "", match[1])
    elif kind == "TypeError" and (match := _CALL.search(message)):
        yield from _call_questions(match[1] or match[2], failure, text, defined, texts)


def _call_questions(
    name: str, failure: Failure, text: str, defined_names: set[str], texts: Sources
) -> Iterator[Question]:
    """The library function that was called, by its name in the message or by the call on the failing line."""
    parts = [part for part in name.split(".") if part not in ("__init__", "__new__")]
    if parts and (parts[0] in defined_names or "<locals>" in name):
        return
    line = next((frame.line for frame in reversed(failure.frames) if texts.get(frame.path) == text), 0)
    calls, imports, yielded = _calls(text, line), _imports(text), 0
    matching = [call for call in calls if call.rpartition(".")[2] == parts[-1]] if parts else []
    for call in (matching or calls)[:CALLS]:
        head, _dot, rest = call.partition(".")
        if head in imports or (head in BUILTINS and head not in defined_names):
            yield _question("call", f"{imports.get(head, head)}.{rest}".rstrip("."), "")
            yielded += 1
    if parts and not (matching and yielded):
        yield _question("call", ".".join(parts), "")


def _calls(text: str, line: int) -> list[str]:
    """The dotted names that are called on this line."""
    calls = [node for node in walk_code(text) if isinstance(node, ast.Call)]
    called = [node.func for node in calls if node.lineno <= line <= (node.end_lineno or 0)]
    return [name for name in map(_dotted_name, called) if name]


def _dotted_name(node: ast.expr) -> str:
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(names)]) if isinstance(node, ast.Name) else ""


def _imports(text: str) -> dict[str, str]:
    """The origin of each imported name of a text (`np` → `numpy`, `loads` → `json.loads`)."""
    origins: dict[str, str] = {}
    for node in walk_code(text):
        if isinstance(node, ast.Import):
            for item in node.names:
                top = item.name.partition(".")[0]
                origins[item.asname or top] = item.name if item.asname else top
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            origins.update({item.asname or item.name: f"{node.module}.{item.name}" for item in node.names})
    return origins


def _modules(text: str) -> list[str]:
    """Modules that a name in the text may come from."""
    origins = _imports(text).values()
    return list(dict.fromkeys([*origins, *(name.rpartition(".")[0] for name in origins if "." in name)]))[:MODULES]


def _defined_names(text: str) -> set[str]:
    """Names of functions and classes that the text defines."""
    return {node.name for node in walk_code(text) if isinstance(node, DEFINITIONS)}


def _question(kind: str, owner: str, name: str) -> Question:
    return {"kind": kind, "owner": owner, "name": name}


# -- the answers ------------------------------------------------------------------------------------------------


def _answer(result: CaseResult | None) -> Mapping[str, Any]:
    """The answer in a failure's message; empty where the message is anything else."""
    if result is None or result.failure is None:
        return {}
    try:
        answer = json.loads(result.failure.message)
    except (ValueError, RecursionError):
        return {}
    lists = [answer.get(name, []) for name in ("names", "all")] if isinstance(answer, dict) else [None]
    return answer if all(isinstance(each, list) for each in lists) else {}


def _answer_rows(question: Question, answer: Mapping[str, Any]) -> list[str]:
    items = [item for item in answer.get("names", ()) if isinstance(item, dict)]
    lines = [_object_row(item) for item in items]
    if question["kind"] == "call":
        return [f"Library: {line}" for line in lines]
    missing = ".".join(filter(None, (str(answer.get("owner", "")) or question["owner"], question["name"])))
    if answer.get("exists"):
        return []
    all_names = ", ".join(str(name) for name in answer.get("all", ()))
    if question["kind"] == "name":
        return [f"`{missing}` is not defined here. There is:", *lines] if lines else []
    if not lines and not all_names:
        return []
    head = f"`{missing}` does not exist."
    if all_names and len(all_names) <= NAMES:
        return [f"{head} {question['owner']} has: {all_names}", *lines]
    return [f"{head} Nearest:", *lines] if lines else []


def _object_row(item: Mapping[str, Any]) -> str:
    head = f"{item.get('name', '')}{item.get('signature', '')}"
    doc = item.get("doc") or ""
    return shorten(f"{head}: {doc}" if doc else head, LINE)
