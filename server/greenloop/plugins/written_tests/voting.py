"""Chooses among candidates when only generated tests are available.

Candidates and tests vote, and the user may be asked. A rule (`trust/`) decides the poll; this module builds the poll
from the attempts, and turns answers into confirmed tests. It must not know how attempts are made or who shows the
questions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from greenloop.core.compose import compose
from greenloop.core.election import Election, elect_nearest
from greenloop.core.fingerprint import fingerprint
from greenloop.core.generated_tests import (
    Check,
    Equation,
    build_test_file,
    equation_test,
    generated_path,
    parse_equation,
)
from greenloop.core.ports import User
from greenloop.core.python.literals import literal_value, parse_literal_input
from greenloop.core.records.attempt import Attempt
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import USER_PROVENANCES, Case, Provenance, Spec
from greenloop.core.records.verdict import Status, Verdict
from greenloop.core.text.diff import count_changed_lines
from greenloop.plugins.written_tests import stored_tests
from greenloop.plugins.written_tests.edited_tests import list_tests, without_cases
from greenloop.plugins.written_tests.polls import Ballot, Poll, Ruling
from greenloop.project.sources import import_name_in_tests
from greenloop_sandbox import CaseResult

MAX_QUESTIONS = 5  # questions in one run, even if the setting allows more
OTHER_VALUES = 2  # values of other candidates that a question offers
VALUE_CHARACTERS = 80  # characters of a value that a question offers
YES, NO, OTHER = "Yes", "No", "The right value is …"
CONFIRMED = "confirmed"  # the kind of generated tests that answers become


@dataclass(frozen=True, kw_only=True)
class CaseJudgement:
    """The user's answer about a case: right, wrong, or (`value`) the value that its call should give."""

    case: Case
    right: bool
    equation: Equation | None
    value: str = ""

    @property
    def check(self) -> Check | None:
        """The test that the answer adds, None where the case already says it; a denied property adds none."""
        if self.right or self.equation is None or (self.equation.raises and not self.value):
            return None
        body, imports = equation_test(self.equation)
        if not self.value:
            body = f"assert not ({self.equation.call} == {self.equation.expected})"
        return Check(body=body, line=self.case.line, provenance=Provenance.CONFIRMED, imports=imports)

    @property
    def sentence(self) -> str:
        """The answer in one sentence."""
        if self.right:
            return f"You confirmed: {self.case.source}"
        check = self.check
        return f"You corrected: {check.body}" if check and self.value else f"You denied: {self.case.source}"


@dataclass(kw_only=True)
class Voting:
    """Holds the polls of one run. `verify` runs a candidate's texts by the current spec.

    `keep_spec` takes over a new spec, which is stored then, with a sentence that says why it changed; `patience` is
    that of `elect_nearest`.
    """

    rule: Callable[[Poll], Ruling]
    user: User
    questions: int
    verify: Callable[[Mapping[str, str]], Awaitable[Verdict]]
    keep_spec: Callable[[Spec, str], None]
    report_status: Callable[[str], None]
    patience: int = 0
    why: str = ""
    doubt: str = ""
    asked_ids: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.questions = min(self.questions, MAX_QUESTIONS)

    async def elect(self, problem: Problem, attempts: Sequence[Attempt], over: bool) -> Election:
        """As `loop.Parts.elect`: if every case is binding, any candidate that passes may be accepted."""
        if not problem.spec.open:
            return await elect_nearest(problem, attempts, over, self.patience)
        ruling = self.rule(build_poll(problem, attempts, is_final=over))
        while case := self._worth_asking(problem, ruling):
            answer = await self._ask(problem, case, attempts)
            if answer is None:
                break
            problem = self._apply_answer(problem, answer)
            self._change_spec(problem, answer.sentence)
            attempts = [await self._verify_again(problem, attempt) for attempt in attempts]
            ruling = self.rule(build_poll(problem, attempts, is_final=over))
        self.why, self.doubt = "" if ruling.order else ruling.why, ruling.doubt
        if ruling.order:
            problem = freeze(problem, ruling)
            believed = sum(not case.binding for case in problem.spec.cases)
            total = len(voting_cases(problem.spec))
            self._change_spec(problem, f"{believed} of {total} generated tests are trusted.")
        return Election(attempts=attempts, order=ruling.order)

    def _change_spec(self, problem: Problem, sentence: str) -> None:
        """Stores and keeps the problem's spec, which votes or answers of the user changed."""
        region = problem.regions[0]
        text = problem.files[region.path]
        for message in stored_tests.update(problem.root, region, text, problem.spec, _module(problem)):
            self.report_status(message)
        self.keep_spec(problem.spec, sentence)

    def _worth_asking(self, problem: Problem, ruling: Ruling) -> Case | None:
        """The case to ask about, None when a candidate is trusted without a doubt and by more than votes."""
        has_user_tests = any(case.provenance in USER_PROVENANCES for case in problem.spec.cases)
        if self.questions <= 0 or (ruling.order and not ruling.doubt and has_user_tests):
            return None
        cases = {case.id: case for case in voting_cases(problem.spec) if case.id not in self.asked_ids}
        return next((cases[each] for each in ruling.questions if each in cases), None)

    async def _ask(self, problem: Problem, case: Case, attempts: Sequence[Attempt]) -> CaseJudgement | None:
        """Asks the user about a case; None if there is no answer, after which no more questions are asked."""
        self.asked_ids.add(case.id)
        self.questions -= 1
        expectation = parse_equation(case.source) if case.provenance is Provenance.DESIGNED else None
        other_values = _other_values(case, expectation, cast_ballots(problem, attempts)) if expectation else {}
        choice = await self.user.choose(
            question_text(case, expectation), [YES, NO, *other_values, *([OTHER] if expectation else ())]
        )
        value = other_values.get(choice or "", "")
        if choice == OTHER and expectation:
            typed = await self.user.correct(f"What is `{expectation.call}`?", expectation.expected)
            with suppress(ValueError):
                value = parse_literal_input(typed or "")
        if value and expectation:
            expectation = replace(expectation, expected=value, raises="")
        elif choice not in (YES, NO):
            self.questions = 0
            return None
        return CaseJudgement(case=case, right=choice == YES, equation=expectation, value=value)

    def _apply_answer(self, problem: Problem, answer: CaseJudgement) -> Problem:
        """Applies the answer to the problem; other tests of the same call lose their vote."""
        case, region = answer.case, problem.regions[0]
        spec = without_cases(problem.spec, {case.id})
        if answer.right:
            confirmed_case = replace(case, provenance=Provenance.CONFIRMED, confirmed=True)
            spec = replace(spec, cases=(*spec.cases, confirmed_case))
        if check := answer.check:
            # The file is generated again, with the user's answers of this run and of earlier ones.
            earlier_checks = [test.check for test in list_tests(spec, region) if test.kind == CONFIRMED]
            path = generated_path(region, CONFIRMED)
            spec = without_cases(spec, {each.id for each in spec.cases if each.id.startswith(f"{path}::")})
            spec += build_test_file(region, _module(problem), CONFIRMED, [*earlier_checks, check])
        call = _call_of(case)
        spec = without_cases(spec, {each.id for each in voting_cases(spec) if call and _call_of(each) == call})
        return replace(problem, spec=with_selectors(spec))

    async def _verify_again(self, problem: Problem, attempt: Attempt) -> Attempt:
        """Verifies the attempt again, over the current cases."""
        if not attempt.candidate or attempt.verdict.status not in (Status.PASSED, Status.FAILED):
            return attempt
        return replace(attempt, verdict=await self.verify(compose(problem, attempt.candidate)))


def _module(problem: Problem) -> str:
    return import_name_in_tests(problem.regions[0].path, problem.root)


def build_poll(problem: Problem, attempts: Sequence[Attempt], *, is_final: bool) -> Poll:
    """Builds the poll of the attempts on the cases that only have a vote, including those outvoted earlier."""
    return Poll(
        ballots=cast_ballots(problem, attempts),
        cases=voting_cases(problem.spec),
        binding_count=sum(case.provenance in USER_PROVENANCES for case in problem.spec.cases),
        answer_count=sum(attempt.candidate is not None for attempt in attempts),
        is_final=is_final,
    )


def voting_cases(spec: Spec) -> tuple[Case, ...]:
    return tuple(case for case in (*spec.cases, *spec.outvoted) if not case.binding)


def cast_ballots(problem: Problem, attempts: Sequence[Attempt]) -> tuple[Ballot, ...]:
    """One ballot for each candidate that passes all binding cases and breaks nothing; equal answers add weight."""
    # The user's approval comes last, once a candidate is elected.
    binding_ids = {each.id for each in problem.spec.cases if each.binding and each.provenance is not Provenance.HUMAN}
    sources = {case.id: case.source for case in voting_cases(problem.spec)}
    fingerprints = {each.number: fingerprint(problem, each.candidate) for each in attempts if each.candidate}
    votes = Counter(fingerprints.values())
    cast = []
    for attempt in attempts:
        verdict = attempt.verdict
        if not attempt.candidate or verdict.status not in (Status.PASSED, Status.FAILED) or verdict.collateral:
            continue
        passed = frozenset(case.id for case in verdict.cases if case.passed)
        if binding_ids <= passed:
            texts = compose(problem, attempt.candidate)
            results = {case.id: case_behaviour(case, sources[case.id]) for case in verdict.cases if case.id in sources}
            weight = votes[fingerprints[attempt.number]]
            size = count_changed_lines(problem.files, texts)
            cast.append(Ballot(attempt=attempt.number, passed=passed, observed=results, weight=weight, size=size))
    return tuple(cast)


def case_behaviour(result: CaseResult, source: str) -> str:
    """A candidate's result for a case in comparable form: a value's repr, `! Error`, else the outcome."""
    expectation = parse_equation(source)
    failure = result.failure
    if expectation is None:
        return "passed" if result.passed else "failed"
    if result.passed:
        return f"! {expectation.raises}" if expectation.raises else normalise_literal(expectation.expected)
    if failure is None:
        return "failed"
    if failure.observed is not None:
        return normalise_literal(failure.observed)
    return f"! {failure.type}" if failure.type != "AssertionError" else "failed"


def normalise_literal(text: str) -> str:
    """A literal as `repr` writes it; any other text unchanged."""
    value = literal_value(text)
    return repr(value[0]) if value else text.strip()


def freeze(problem: Problem, ruling: Ruling) -> Problem:
    """Freezes the problem's cases to the binding and the believed ones; the others are kept as outvoted."""
    kept_ids = {*ruling.kept}
    spec = problem.spec
    cases = [case for case in (*spec.cases, *spec.outvoted) if case.binding or case.id in kept_ids]
    outvoted = tuple(case for case in voting_cases(spec) if case.id not in kept_ids)
    return replace(problem, spec=with_selectors(replace(spec, cases=tuple(cases), outvoted=outvoted)))


def with_selectors(spec: Spec) -> Spec:
    """The spec with its cases' selectors; selectors of whole docstrings and parametrised tests stay."""
    other_selectors = [each for each in spec.selectors if not each.startswith(tuple(spec.files))]
    generated_ids = [case.id for case in spec.cases if case.id.partition("::")[0] in spec.files]
    return replace(spec, selectors=tuple(dict.fromkeys([*other_selectors, *generated_ids])))


def question_text(case: Case, equation: Equation | None) -> str:
    if equation is None:
        return f"Should this always hold: {case.source}?"
    if equation.raises:
        return f"Should `{equation.call}` raise {equation.raises}?"
    return f"Is `{equation.call} == {equation.expected}` right?"


def _other_values(case: Case, equation: Equation, ballots: Sequence[Ballot]) -> dict[str, str]:
    """Other candidates' values for the same call, heaviest first, as options of the question; no exceptions."""
    weights: Counter[str] = Counter()
    for ballot in ballots:
        value = ballot.observed.get(case.id, "")
        if value != normalise_literal(equation.expected) and len(value) <= VALUE_CHARACTERS and literal_value(value):
            weights[value] += ballot.weight
    return {f"It is {value}": value for value, _weight in weights.most_common(OTHER_VALUES)}


def _call_of(case: Case) -> str:
    expectation = parse_equation(case.source)
    return expectation.call if expectation else ""
