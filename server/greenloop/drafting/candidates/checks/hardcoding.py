"""Detects candidates that memorise the examples they were shown, as literal inputs and outputs.

A base case (`if n == 0: return 1`), a table with more than the examples, and a closed vocabulary (`"red"` is
`(255, 0, 0)`) are rules, not memory. So only what no rule explains is rejected; other cases become warnings.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from greenloop.core.compose import region_text
from greenloop.core.python.ast_source import FUNCTIONS, Function, find_definitions, parse_module, plain_name
from greenloop.core.records.attempt import Candidate, Finding
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Provenance, Region, Spec
from greenloop.core.records.verdict import Verdict
from greenloop.core.text.diff import with_plain_ends
from greenloop.drafting.candidates.checks.literal_tables import (
    are_equal,
    bind_arguments,
    computes_result,
    is_answer_to,
    is_small,
    literal_entries,
    parameters,
)
from greenloop.drafting.candidates.checks.shown_examples import ShownExample, docstring_prose, examples, literal_value

HARD_CODED = "HardCoded"
MIN_HELD_OUT = 3  # held-out cases that are needed to call a candidate overfitted
SHOWN = (Provenance.USER, Provenance.DOCTEST, Provenance.EXAMPLE, Provenance.TRACE)
HELD_OUT = (Provenance.DESIGNED, Provenance.PROPERTY, Provenance.CONFIRMED)


@dataclass(frozen=True, kw_only=True)
class Suspicion:
    """A sign of memorised examples. `certain`: the candidate is rejected, else the user is warned."""

    sentence: str
    certain: bool
    line: int


def find_hard_coding(problem: Problem, candidate: Candidate, files: Mapping[str, str]) -> Finding | None:
    """A finding where a candidate certainly memorises examples, or None. `files` are its composed texts."""
    for found in _suspicions(problem, candidate, files):
        if found.certain:
            return Finding(error_class=HARD_CODED, message=found.sentence, line=found.line)
    return None


def warnings(problem: Problem, candidate: Candidate, files: Mapping[str, str]) -> tuple[str, ...]:
    """Warnings about code that may memorise examples, without certainty."""
    return tuple(found.sentence for found in _suspicions(problem, candidate, files) if not found.certain)


def overfitting_warning(verdict: Verdict, spec: Spec) -> str:
    """One sentence where a candidate passes all shown examples and fails most of the others; else empty."""
    results = {case.id: case.passed for case in verdict.cases}
    shown = [case for case in spec.cases if case.id in results and case.provenance in SHOWN]
    others = [case for case in spec.cases if case.id in results and case.provenance in HELD_OUT]
    failed = sum(not results[case.id] for case in others)
    if (
        not shown
        or not all(results[case.id] for case in shown)
        or len(others) < MIN_HELD_OUT
        or failed * 2 <= len(others)
    ):
        return ""
    passed = f"the {len(shown)} examples" if len(shown) > 1 else "the example"
    return f"It passes {passed} it was shown and fails {failed} of {len(others)} others: it may have memorised them."


def _suspicions(problem: Problem, candidate: Candidate, files: Mapping[str, str]) -> Iterator[Suspicion]:
    for region in candidate.texts:
        shown = examples(problem, region)
        if not shown:
            continue
        sign = find_suspicion(
            files.get(region.path, ""), region, shown, docstring_prose(with_plain_ends(region_text(problem, region)))
        )
        # Code that the user wrote is not suspicious.
        if sign and find_suspicion(problem.originals.get(region.path) or "", region, shown, "") is None:
            yield sign


def find_suspicion(text: str, region: Region, shown_examples: Sequence[ShownExample], prose: str) -> Suspicion | None:
    """A sign that a function of this module memorises known examples; `prose` is that of its docstring."""
    module = parse_module(with_plain_ends(text))
    if isinstance(module, SyntaxError):
        return None
    wanted = plain_name(region.qualname)
    functions = [node for name, node in find_definitions(module.body) if name == wanted and isinstance(node, FUNCTIONS)]
    if not functions:
        return None
    function = functions[-1]
    calls = [(each, inputs) for each in shown_examples if (inputs := bind_arguments(function, each)) is not None]
    if not calls or any(isinstance(node, ast.Yield | ast.YieldFrom) for node in ast.walk(function)):
        return None
    if (constant := _only_return(function)) is not None:
        return _ignored_parameters(function, constant, calls)
    entries = list(literal_entries(function, module))
    large_calls = [(each, inputs) for each, inputs in calls if not all(map(is_small, inputs.values()))]
    recalled = [
        (each, inputs, answer)
        for each, inputs in large_calls
        for answer in entries
        if is_answer_to(answer, inputs, each)
    ]
    memorised = {each.shown: (each, inputs) for each, inputs, _answer in recalled}
    unrelated = [
        answer
        for answer in entries
        if not all(map(is_small, answer.inputs.values()))
        and not any(is_answer_to(answer, inputs, each) for each, inputs in calls)
    ]
    if not memorised or len(unrelated) >= len(memorised):
        return None
    entry = recalled[0][2]
    all_open = all(_is_open_ended(each, inputs) for each, inputs in memorised.values())
    if any(answer.is_shared for _each, _given, answer in recalled) and not all_open:
        return None  # several inputs with a common answer are a rule
    explains_all = (len(memorised) == len(large_calls) > 1) or not computes_result(function, module)
    input_words = {
        item for _each, inputs in memorised.values() for item in inputs.values() if isinstance(item, str) and item
    }
    listed = any(word in prose for word in input_words)  # a vocabulary that the docstring lists
    if explains_all and all_open and not unrelated and not listed:
        sentence = f"It returns the examples by heart: {entry.code} in line {entry.line}. Write the general rule."
        return Suspicion(sentence=sentence, certain=True, line=entry.line)
    if len(memorised) < 2:
        return None
    sentence = (
        f"It may have memorised {len(memorised)} of {len(shown_examples)} examples: {entry.code} in line {entry.line}."
    )
    return Suspicion(sentence=sentence, certain=False, line=entry.line)


# -- functions that ignore their parameters ---------------------------------------------------------------------


def _only_return(function: Function) -> ast.Return | None:
    """The only `return` of a function that reads none of its parameters."""
    if not parameters(function) or function.args.vararg or function.args.kwarg or function.decorator_list:
        return None
    read = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
    if read & {*parameters(function), "locals", "vars", "self", "cls"}:
        return None
    returns = [node for node in ast.walk(function) if isinstance(node, ast.Return)]
    if len(returns) != 1 or returns[0].value is None or any(isinstance(n, ast.Raise) for n in ast.walk(function)):
        return None
    return returns[0]


def _ignored_parameters(
    function: Function, constant: ast.Return, calls: Sequence[tuple[ShownExample, Mapping[str, Any]]]
) -> Suspicion | None:
    assert constant.value is not None
    try:
        output = literal_value(constant.value)
    except ValueError:
        return None
    shown, line = f"`return {ast.unparse(constant.value)[:60]}`", constant.lineno
    outputs = [each.expected for each, _given in calls]
    parameter_list = ", ".join(f"`{name}`" for name in parameters(function))
    if any(not are_equal(each, outputs[0]) for each in outputs):
        sentence = f"It gives the same whatever {parameter_list} is ({shown} in line {line}), and the examples differ."
        return Suspicion(sentence=sentence, certain=True, line=line)
    if is_small(output) or not are_equal(output, outputs[0]):
        return None
    if any(_is_open_ended(each, given) and not all(map(is_small, given.values())) for each, given in calls):
        sentence = f"It returns the example by heart: {shown} in line {line}, whatever {parameter_list} is."
        return Suspicion(sentence=f"{sentence} Write the general rule.", certain=True, line=line)
    return Suspicion(
        sentence=f"It does not look at {parameter_list}: {shown} in line {line}.", certain=False, line=line
    )


def _is_open_ended(example: ShownExample, inputs: Mapping[str, Any]) -> bool:
    """Are the inputs not a closed vocabulary? Containers and computed numbers are not, nor text made from the input."""
    if any(isinstance(item, list | tuple | dict | set | float | complex) for item in inputs.values()):
        return True
    if all(isinstance(item, int) for item in inputs.values()):
        return not any(isinstance(item, str) for item in _atoms(example.expected))
    letters = {sign for item in inputs.values() if isinstance(item, str) for sign in item.lower()}
    texts = [item.lower() for item in _atoms(example.expected) if isinstance(item, str) and item]
    return bool(texts) and all(set(item) <= letters for item in texts)


def _atoms(item: Any) -> Iterator[Any]:
    if isinstance(item, dict):
        item = [*item.keys(), *item.values()]
    if isinstance(item, list | tuple | set):
        for each in item:
            yield from _atoms(each)
    else:
        yield item
