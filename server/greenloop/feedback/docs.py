"""What a library really offers, where a candidate used something of it that is not there or called it wrongly.

Looked up in the sandbox, in the user's own packages, and never on the host: the name that was meant, its signature, the
first words of its documentation. It says nothing about assertions, nor about the workspace's own code.
"""

from __future__ import annotations

import ast
import builtins
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from greenloop import inside
from greenloop.core.nouns import Attempt, CaseResult, Failure, Note, Problem, Run, Usage
from greenloop.core.ports import Tools
from greenloop.core.records import results
from greenloop.core.source import tree
from greenloop.feedback._statements import Sources, sources
from greenloop.feedback._values import short

MOST = 3  # questions of one attempt
SECONDS = 10.0  # of the look-up, imports and all
LINE = 300  # characters of what is said of one name
NAMES = 300  # characters of a type's names
FILE = "test_greenloop_inquiry.py"
CALLS = 2  # of one line that are looked up
MODULES = 20  # of a text that are looked in
LOOKED = 20  # failing cases that are read

BUILTINS = frozenset(dir(builtins))

Question = Mapping[str, Any]

_MODULE = re.compile(r"^module '([\w.]+)' has no attribute '(\w+)'")
_TYPE = re.compile(r"^(?:type object )?'([\w.]+)'(?: object)? has no attribute '(\w+)'")
_IMPORT = re.compile(r"^cannot import name '(\w+)' from '([\w.]+)'")
_NO_MODULE = re.compile(r"^No module named '([\w.]+)'")
_NAME = re.compile(r"^name [`'](\w+)[`'] is not defined")
_CALL = re.compile(r"^([\w.<>]+)\(\) |for ([\w.<>]+)\(\)$")


async def describe(problem: Problem, attempts: Sequence[Attempt], tools: Tools) -> Note:
    """The real objects beside those that the newest attempt made up; an empty note where there are none."""
    asked = questions(problem, attempts[-1])
    if not asked:
        return Note(text="")
    run = Run(selectors=(FILE,), files={**problem.buffers, FILE: inquiry(asked)}, seconds=SECONDS)
    execution = await tools.session.run(run)
    told = {} if execution.broken else {result.id: result for result in results(execution)}
    lines = []
    for number, question in enumerate(asked):
        lines += _said(question, _answer(told.get(f"{FILE}::Inquiry::test_{number}")))
    return Note(text="\n".join(dict.fromkeys(lines)), usage=Usage(test_seconds=execution.seconds))


def inquiry(asked: Sequence[Question]) -> bytes:
    """The test file that answers these questions by failing."""
    tail = f"\n\nInquiry = case(json.loads({json.dumps(list(asked))!r}))\n"
    return inside.sources()["inquiry.py"] + tail.encode()


def questions(problem: Problem, attempt: Attempt) -> list[Question]:
    """What to look up, by the messages of an attempt's failures; nothing for failed assertions."""
    texts = sources(problem, attempt)
    found: dict[str, Question] = {}
    finding = attempt.finding
    if finding and finding.error_class == "UndefinedName":
        failures = [Failure(type="NameError", message=finding.message)]
    else:
        cases = [case for case in (*attempt.verdict.cases, *attempt.verdict.collateral) if not case.passed]
        failures = [case.failure for case in cases[:LOOKED] if case.failure]
    for failure in failures:
        paths = [frame.path for frame in failure.frames if frame.path in texts]
        paths = [*dict.fromkeys(reversed(paths)), *(region.path for region in problem.regions)]
        text = texts.get(paths[0], "") if paths else ""
        for question in _asked(failure, text, texts):
            found.setdefault(json.dumps(question), {**question, "modules": _modules(text)})
    return list(found.values())[:MOST]


def _asked(failure: Failure, text: str, texts: Sources) -> Iterator[Question]:
    kind, message = failure.type.rpartition(".")[2], failure.message[:LINE]
    own = _own(text)
    if kind == "AttributeError":
        match = _MODULE.match(message) or _TYPE.match(message)
        if match and match[1] != "NoneType" and match[1].split(".")[-1] not in own:
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
        yield from _called(match[1] or match[2], failure, text, own, texts)


def _called(name: str, failure: Failure, text: str, own: set[str], texts: Sources) -> Iterator[Question]:
    """The function of a library by the name that the message gives it, or by the call on the line that failed."""
    parts = [part for part in name.split(".") if part not in ("__init__", "__new__")]
    if parts and (parts[0] in own or "<locals>" in name):
        return
    line = next((frame.line for frame in reversed(failure.frames) if texts.get(frame.path) == text), 0)
    calls, imports, asked = _calls(text, line), _imports(text), 0
    named = [call for call in calls if call.rpartition(".")[2] == parts[-1]] if parts else []
    for call in (named or calls)[:CALLS]:
        head, _dot, rest = call.partition(".")
        if head in imports or (head in BUILTINS and head not in own):
            yield _question("call", f"{imports.get(head, head)}.{rest}".rstrip("."), "")
            asked += 1
    if parts and not (named and asked):
        yield _question("call", ".".join(parts), "")


def _calls(text: str, line: int) -> list[str]:
    """The dotted names that are called on this line."""
    found = tree(text)
    if isinstance(found, SyntaxError):
        return []
    calls = [node for node in ast.walk(found) if isinstance(node, ast.Call)]
    near = [node.func for node in calls if node.lineno <= line <= (node.end_lineno or 0)]
    return [name for name in map(_dotted, near) if name]


def _dotted(node: ast.expr) -> str:
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(names)]) if isinstance(node, ast.Name) else ""


def _imports(text: str) -> dict[str, str]:
    """What each imported name of a text stands for (`np` → `numpy`, `loads` → `json.loads`)."""
    found: dict[str, str] = {}
    module = tree(text)
    for node in ast.walk(module) if isinstance(module, ast.Module) else ():
        if isinstance(node, ast.Import):
            for item in node.names:
                top = item.name.partition(".")[0]
                found[item.asname or top] = item.name if item.asname else top
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.update({item.asname or item.name: f"{node.module}.{item.name}" for item in node.names})
    return found


def _modules(text: str) -> list[str]:
    """Where a name that the text uses may come from."""
    found = _imports(text).values()
    return list(dict.fromkeys([*found, *(name.rpartition(".")[0] for name in found if "." in name)]))[:MODULES]


def _own(text: str) -> set[str]:
    """Names of functions and classes that the text itself defines."""
    module = tree(text)
    nodes = ast.walk(module) if isinstance(module, ast.Module) else ()
    return {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)}


def _question(kind: str, owner: str, name: str) -> Question:
    return {"kind": kind, "owner": owner, "name": name}


# -- the answers ------------------------------------------------------------------------------------------------


def _answer(result: CaseResult | None) -> Mapping[str, Any]:
    """What the test said; nothing where it said anything that is no answer."""
    if result is None or result.failure is None:
        return {}
    try:
        found = json.loads(result.failure.message)
    except (ValueError, RecursionError):
        return {}
    lists = [found.get(name, []) for name in ("names", "all")] if isinstance(found, dict) else [None]
    return found if all(isinstance(each, list) for each in lists) else {}


def _said(question: Question, told: Mapping[str, Any]) -> list[str]:
    items = [item for item in told.get("names", ()) if isinstance(item, dict)]
    lines = [_line(item) for item in items]
    if question["kind"] == "call":
        return [f"Library: {line}" for line in lines]
    missing = ".".join(filter(None, (str(told.get("owner", "")) or question["owner"], question["name"])))
    if told.get("exists"):
        return []
    every = ", ".join(str(name) for name in told.get("all", ()))
    if question["kind"] == "name":
        return [f"`{missing}` is not defined here. There is:", *lines] if lines else []
    if not lines and not every:
        return []
    head = f"`{missing}` does not exist."
    if every and len(every) <= NAMES:
        return [f"{head} {question['owner']} has: {every}", *lines]
    return [f"{head} Nearest:", *lines] if lines else []


def _line(item: Mapping[str, Any]) -> str:
    head = f"{item.get('name', '')}{item.get('signature', '')}"
    doc = item.get("doc") or ""
    return short(f"{head}: {doc}" if doc else head, LINE)
