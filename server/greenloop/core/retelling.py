"""Tests of the sandbox's sheets, told again as a developer would keep them: one by one, with a name and a remark."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from greenloop.core.naming import name_of
from greenloop.core.nouns import Attempt, Case, Failure, Provenance
from greenloop.core.source import FUNCTIONS, tree
from greenloop.core.testfile import Written

KINDS = {
    Provenance.EXAMPLE: "An example of the docstring.",
    Provenance.TRACE: "Recorded behaviour.",
    Provenance.CONFIRMED: "Confirmed when greenloop asked.",
    Provenance.HUMAN: "Said when greenloop showed its code.",
    Provenance.DESIGNED: "Designed from the docstring by greenloop, believed by votes.",
    Provenance.PROPERTY: "A property that greenloop tried with many inputs.",
}
OURS = {"HealthCheck", "Phase", "given", "reject", "settings", "st", "example"}
MOST = 2  # counterexamples kept with a property


def retold(
    case: Case, files: Mapping[str, str], module: str, name: str, taken: Collection[str], attempts: Sequence[Attempt]
) -> Written | None:
    """A case's test out of its sheet among `files`; None where it cannot be read there.

    `module` is the dotted name of the module under test, `name` the function's; `taken` are words not to be used again.
    """
    path, _colons, function = case.id.partition("::")
    parsed = tree(files.get(path, ""))
    if isinstance(parsed, SyntaxError):
        return None
    node = next((each for each in parsed.body if isinstance(each, FUNCTIONS) and each.name == function), None)
    if node is None:
        return None
    uses = [
        a.name for each in node.body if isinstance(each, ast.ImportFrom) and each.module == module for a in each.names
    ]
    body = [each for each in node.body if not (isinstance(each, ast.ImportFrom) and each.module == module)]
    if case.provenance is Provenance.PROPERTY:  # Hypothesis shows the inputs itself
        body = [ast.Assert(test=each.test, msg=None) if isinstance(each, ast.Assert) else each for each in body]
    words = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
    parameters = tuple(item.arg for item in node.args.args)
    decorators: tuple[str, ...] = ()
    imports = [ast.unparse(each) for each in parsed.body if _needed(each, words)]
    if case.provenance is Provenance.PROPERTY:
        given = [ast.unparse(each) for each in node.decorator_list if ast.unparse(each).startswith("given(")]
        kept = examples(case.id, parameters, attempts)
        decorators = ("settings(deadline=None)", *given, *(f"example({each})" for each in kept))
        used = {"settings", "given"} | ({"example"} if kept else set()) | (words & (OURS - {"settings", "HealthCheck"}))
        used -= {"Phase", "HealthCheck"}
        listed = sorted("strategies as st" if each == "st" else each for each in used)
        imports.append(f"from hypothesis import {', '.join(listed)}")
    title = name_of(case, name, taken)
    return Written(
        case=case.id,
        name=title,
        body="\n".join(ast.unparse(each) for each in body) or "pass",
        uses=tuple(each for each in uses if each in words),
        imports=tuple(imports),
        decorators=decorators,
        parameters=parameters,
        remark=KINDS[case.provenance],
    )


def _needed(node: ast.stmt, words: Collection[str]) -> bool:
    """Is it an import that these words use? What brings Hypothesis along is written anew."""
    if not isinstance(node, ast.Import | ast.ImportFrom) or getattr(node, "module", "") == "hypothesis":
        return False
    return any((each.asname or each.name.partition(".")[0]) in words for each in node.names)


def examples(case: str, parameters: Sequence[str], attempts: Sequence[Attempt]) -> list[str]:
    """The shrunk inputs with which attempts failed a property, as the arguments of `@example`."""
    found: dict[str, None] = {}
    for attempt in attempts:
        for result in attempt.verdict.cases:
            if result.id == case and result.failure and (read := counterexample(result.failure, parameters)):
                found[read] = None
    return list(found)[:MOST]


def counterexample(failure: Failure, parameters: Sequence[str]) -> str:
    """`s='aa', n=1` of a failure that shows the broken call by its arguments' names; empty where none are literals."""
    for call in re.findall(r"\w+\((?:[^\n]*)\)", f"{failure.message}\n{failure.text}"):
        for end in [match.end() for match in re.finditer(r"\)", call)]:
            try:
                node = ast.parse(call[:end], mode="eval").body
            except (SyntaxError, ValueError, MemoryError, RecursionError):
                continue
            if not isinstance(node, ast.Call) or {each.arg for each in node.keywords} != {*parameters}:
                break
            try:
                [ast.literal_eval(each.value) for each in node.keywords]
            except (ValueError, TypeError):
                break
            return ", ".join(f"{each.arg}={ast.unparse(each.value)}" for each in node.keywords)
    return ""


def remarked(tests: Sequence[Written]) -> list[Written]:
    """Each remark once, above the first of its kind."""
    result, last = [], ""
    for test in tests:
        result.append(replace(test, remark="" if test.remark == last else test.remark))
        last = test.remark
    return result
