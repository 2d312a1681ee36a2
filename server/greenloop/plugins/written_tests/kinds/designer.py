"""Designs tests from signature and docstring with a model that never sees a candidate (AgentCoder).

The model writes basic, edge and large cases three times, because a set is right in only about two of three cases:
several sets can vote, a single one cannot (Huang et al. 2023, arXiv 2312.13010). Tests that prove weak are written
once more (CodeContests-O, arXiv 2601.13682).
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Sequence

from greenloop.core.documentation import read_examples
from greenloop.core.generated_tests import Check, build_test_file
from greenloop.core.ports import Tools
from greenloop.core.python.ast_source import parse_module
from greenloop.core.records.model import ChatRequest, Message, Role
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Provenance, Region, Spec
from greenloop.plugins.written_tests.answered_tests import TestLine, read_tests, uses_of_target
from greenloop.plugins.written_tests.stub_view import StubView, build_stub_view
from greenloop.project import sources
from greenloop.project.templates import few_shot_messages

KIND = "designed"
PROVENANCE = Provenance.DESIGNED
TEMPERATURES = (0.4, 0.7, 0.9)  # one for each set; greedy answers repeat the docstring's examples
TOKENS = 220  # limit of one answer
STOP = ("\ndef ", "\nclass ")  # small models start to write the function
MOST = 8  # tests of one set
LONGEST = 20_000  # characters of an answer that are read
DOUBTS = 3  # sentences about tests that contradict each other
NOTHING = "The model wrote no usable test."


async def collect(problem: Problem, tools: Tools) -> Spec:
    """The cases of all sets, or none and a doubt. Lets `BudgetExceededError` and the model's own errors through."""
    region = problem.regions[0]
    stub_view = build_stub_view(region, problem.files[region.path])
    if stub_view is None:
        return Spec(doubts=(NOTHING,))
    answers = [(await tools.ask(request)).text for request in requests(stub_view)]
    return build_spec(region, sources.import_name_in_tests(region.path, problem.root), stub_view, answers)


async def collect_more(problem: Problem, tools: Tools, designed: Spec) -> Spec:
    """The cases of `designed` with those of a second request for each set, which is shown its own tests alone."""
    region = problem.regions[0]
    stub_view = build_stub_view(region, problem.files[region.path])
    if stub_view is None:
        return designed
    first_answers = [
        "\n".join(case.source for case in designed.cases if str(number) in case.batch.split())
        for number, _temperature in enumerate(TEMPERATURES, 1)
    ]
    answers = [
        f"{first}\n{(await tools.ask(request)).text}"
        for first, request in zip(first_answers, requests(stub_view, first_answers), strict=True)
    ]
    module = sources.import_name_in_tests(region.path, problem.root)
    return build_spec(region, module, stub_view, answers, most=2 * MOST)


def requests(target: StubView, first_answers: Sequence[str] = ()) -> list[ChatRequest]:
    """One request for each set: the same prompt, so that it is read once, at rising temperatures.

    With the first answer of each set: it is asked for tests of other inputs.
    """
    messages = few_shot_messages("specs/designer", shown=target.stub, name=target.full_name)
    more = few_shot_messages("specs/designer_more", name=target.full_name)
    asked = [
        (*messages, Message(role="assistant", content=each), *more) if each else messages for each in first_answers
    ]
    return [
        ChatRequest(messages=each, role=Role.TESTER, temperature=temperature, max_tokens=TOKENS, stop=STOP)
        for each, temperature in zip(asked or [messages] * len(TEMPERATURES), TEMPERATURES, strict=True)
    ]


def build_spec(region: Region, module: str, target: StubView, answers: Sequence[str], *, most: int = MOST) -> Spec:
    """The spec of these answers, one for each set, with at most `most` tests of each. Pure."""
    test_sets = [_test_set(answer, target, most) for answer in answers]
    batches: dict[str, list[str]] = defaultdict(list)
    unique_tests: dict[str, TestLine] = {}
    for number, tests in enumerate(test_sets, 1):
        for test in tests:
            unique_tests.setdefault(test.text, test)
            batches[test.text].append(str(number))
    if not unique_tests:
        return Spec(doubts=(NOTHING,))
    checks = [_check(test, region, module, " ".join(batches[text])) for text, test in unique_tests.items()]
    return build_test_file(region, module, KIND, checks) + Spec(doubts=_disagreements(list(unique_tests.values())))


def _test_set(answer: str, target: StubView, most: int) -> list[TestLine]:
    """The first tests of an answer, without duplicates and without calls of the docstring's own examples."""
    shown_calls = _example_calls(target)
    tests = {test.text: test for test in read_tests(answer[:LONGEST], target) if test.call not in shown_calls}
    return list(tests.values())[:most]


def _example_calls(target: StubView) -> set[str]:
    """The calls in the docstring's examples, also nested ones (`print(f(1))`), as `ast.unparse` writes them."""
    module = parse_module("\n".join(example.source for example in read_examples(target.docstring) or ()))
    nodes = [] if isinstance(module, SyntaxError) else ast.walk(module)
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    return {ast.unparse(node) for node in calls if any(uses_of_target(node, target))}


def _check(line: TestLine, region: Region, module: str, batch: str) -> Check:
    target_name = region.qualname.partition(".")[0]
    module_names = sorted(set(line.module_names) - {target_name})
    body = [f"from {module} import {', '.join(module_names)}", line.text] if module_names else [line.text]
    return Check(
        body="\n".join(body),
        line=region.start,
        provenance=Provenance.DESIGNED,
        shown=line.text,
        imports=line.imports,
        batch=batch,
    )


def _disagreements(tests: Sequence[TestLine]) -> tuple[str, ...]:
    """One sentence for each call on which the tests disagree."""
    expectations: dict[str, dict[str, None]] = defaultdict(dict)
    for test in tests:
        expectations[test.call][test.expectation] = None
    return tuple(
        f"The docstring does not say what {call} is: generated tests say {' and '.join(values)}."
        for call, values in expectations.items()
        if len(values) > 1
    )[:DOUBTS]
