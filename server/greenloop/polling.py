"""Who is believed where no word of the user decides: a poll after each round, questions to the user, frozen tests.

A rule (`trust/`) judges the poll; here the poll is put together from the attempts, and answers become confirmed tests.
It must not know how attempts come about or who shows the questions.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from greenloop.core.compose import compose
from greenloop.core.diff import changed
from greenloop.core.edited import written
from greenloop.core.election import Election, nearest
from greenloop.core.meaning import fingerprint
from greenloop.core.nouns import OWN, Attempt, Case, CaseResult, Problem, Provenance, Spec, Status, Verdict
from greenloop.core.poll import Ballot, Poll, Ruling
from greenloop.core.ports import User
from greenloop.core.sheet import Check, Equation, equation, path_of, sheet, stated
from greenloop.core.typed import expression

MOST = 5  # questions in one run, whatever the setting says
OTHERS = 2  # values of other candidates that a question offers
LONGEST = 80  # characters of a value that a question offers
YES, NO, OTHER = "Yes", "No", "The right value is …"
CONFIRMED = "confirmed"  # the kind of sheet that answers go to


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What the user said of a case: it is right; it is wrong; or (`value`) what its call gives instead."""

    case: Case
    right: bool
    known: Equation | None
    value: str = ""

    @property
    def check(self) -> Check | None:
        """The test that the answer makes where the case does not say it; a property denied makes none."""
        if self.right or self.known is None or (self.known.raises and not self.value):
            return None
        body, imports = stated(self.known)
        if not self.value:
            body = f"assert not ({self.known.call} == {self.known.expected})"
        return Check(body=body, line=self.case.line, provenance=Provenance.CONFIRMED, imports=imports)

    @property
    def said(self) -> str:
        """The answer in one sentence."""
        if self.right:
            return f"You confirmed: {self.case.source}"
        check = self.check
        return f"You corrected: {check.body}" if check and self.value else f"You denied: {self.case.source}"


@dataclass(kw_only=True)
class Polling:
    """The polls of one run. `questions` may still be asked; `verify` runs a candidate over a problem's cases.

    `ruled` is told the problem as it is now, with a sentence, whenever it changed.
    """

    rule: Callable[[Poll], Ruling]
    user: User
    questions: int
    module: str
    verify: Callable[[Problem, Mapping[str, str]], Awaitable[Verdict]]
    ruled: Callable[[Problem, str], None]
    why: str = ""
    doubt: str = ""
    asked: set[str] = field(default_factory=set)

    async def elect(self, problem: Problem, attempts: Sequence[Attempt], over: bool) -> Election:
        """As `loop.Parts.elect`: where nothing has a vote only, whatever passes may be accepted."""
        if not problem.spec.open:
            return await nearest(problem, attempts, over)
        ruling = self.rule(poll(problem, attempts, over=over))
        while case := self._worth_asking(problem, ruling):
            answer = await self._answered(problem, case, attempts)
            if answer is None:
                break
            problem = self._settled(problem, answer)
            attempts = [await self._again(problem, attempt) for attempt in attempts]
            self.ruled(problem, answer.said)
            ruling = self.rule(poll(problem, attempts, over=over))
        self.why, self.doubt = "" if ruling.order else ruling.why, ruling.doubt
        if ruling.order:
            problem = frozen(problem, ruling)
            self.ruled(problem, _told(problem))
        return Election(problem=problem, attempts=attempts, order=ruling.order)

    def _worth_asking(self, problem: Problem, ruling: Ruling) -> Case | None:
        """The case to ask about: while nobody is believed without a doubt, or nothing but votes speaks for whom is."""
        sure = ruling.order and not ruling.doubt and any(case.provenance in OWN for case in problem.spec.cases)
        if self.questions <= 0 or sure:
            return None
        cases = {case.id: case for case in voting(problem.spec)}
        return next((cases[each] for each in ruling.questions if each in cases and each not in self.asked), None)

    async def _answered(self, problem: Problem, case: Case, attempts: Sequence[Attempt]) -> Answer | None:
        """What the user says about a case; None: nothing, and there are no more questions."""
        self.asked.add(case.id)
        self.questions -= 1
        known = equation(case.source) if case.provenance is Provenance.DESIGNED else None
        others = _others(case, known, ballots(problem, attempts)) if known else {}
        said = await self.user.choose(question(case, known), [YES, NO, *others, *([OTHER] if known else ())])
        value = others.get(said or "", "")
        if said == OTHER and known:
            value = _typed(await self.user.correct(f"What is `{known.call}`?", known.expected))
        if said in (YES, NO):
            return Answer(case=case, right=said == YES, known=known)
        if not value:
            self.questions = 0
            return None
        return Answer(
            case=case, right=False, known=replace(known, expected=value, raises="") if known else None, value=value
        )

    def _settled(self, problem: Problem, answer: Answer) -> Problem:
        """The problem with the answer in it; other tests of the same call have nothing to say any more."""
        case, region = answer.case, problem.regions[0]
        spec = _without(problem.spec, {case.id})
        if answer.right:
            sure = replace(case, provenance=Provenance.CONFIRMED, confirmed=True)
            spec = replace(spec, cases=(*spec.cases, sure))
        if check := answer.check:
            # The sheet is written anew, with what the user said in this run and in earlier ones.
            mine = [test.check for test in written(spec, region) if test.kind == CONFIRMED]
            path = path_of(region, CONFIRMED)
            spec = _without(spec, {each.id for each in spec.cases if each.id.startswith(f"{path}::")})
            spec += sheet(region, self.module, CONFIRMED, [*mine, check])
        call = _call(case)
        spec = _without(spec, {each.id for each in voting(spec) if call and _call(each) == call})
        return replace(problem, spec=selected(spec))

    async def _again(self, problem: Problem, attempt: Attempt) -> Attempt:
        """The attempt with the verdict of the cases as they are now."""
        if not attempt.candidate or attempt.verdict.status not in (Status.PASSED, Status.FAILED):
            return attempt
        return replace(attempt, verdict=await self.verify(problem, compose(problem, attempt.candidate)))


def poll(problem: Problem, attempts: Sequence[Attempt], *, over: bool) -> Poll:
    """What the attempts say about the cases that have a vote, those outvoted before included."""
    return Poll(
        ballots=ballots(problem, attempts),
        cases=voting(problem.spec),
        binding=sum(case.provenance in OWN for case in problem.spec.cases),
        answers=sum(attempt.candidate is not None for attempt in attempts),
        over=over,
    )


def voting(spec: Spec) -> tuple[Case, ...]:
    return tuple(case for case in (*spec.cases, *spec.outvoted) if not case.binding)


def ballots(problem: Problem, attempts: Sequence[Attempt]) -> tuple[Ballot, ...]:
    """One for each candidate that passes what must hold and breaks nothing; equal answers give it weight."""
    # A person's word comes last, when somebody is elected.
    binding = {each.id for each in problem.spec.cases if each.binding and each.provenance is not Provenance.HUMAN}
    sources = {case.id: case.source for case in voting(problem.spec)}
    codes = {each.number: fingerprint(problem, each.candidate) for each in attempts if each.candidate}
    weights = Counter(codes.values())
    found = []
    for attempt in attempts:
        verdict = attempt.verdict
        if not attempt.candidate or verdict.status not in (Status.PASSED, Status.FAILED) or verdict.collateral:
            continue
        passed = frozenset(case.id for case in verdict.cases if case.passed)
        if binding <= passed:
            texts = compose(problem, attempt.candidate)
            seen = {case.id: behaviour(case, sources[case.id]) for case in verdict.cases if case.id in sources}
            weight = weights[codes[attempt.number]]
            size = changed(problem.files, texts)
            found.append(Ballot(attempt=attempt.number, passed=passed, seen=seen, weight=weight, size=size))
    return tuple(found)


def behaviour(result: CaseResult, source: str) -> str:
    """What a candidate gave for a case, so that it can be compared: a value's repr, `! Error`, else the outcome."""
    known = equation(source)
    failure = result.failure
    if result.passed:
        return (f"! {known.raises}" if known.raises else normal(known.expected)) if known else "passed"
    if failure is None or known is None:
        return "failed"
    if failure.observed is not None:
        return normal(failure.observed)
    return f"! {failure.type}" if failure.type != "AssertionError" else "failed"


def normal(text: str) -> str:
    """A literal as `repr` writes it; any other text as it is."""
    try:
        return repr(ast.literal_eval(text.strip()))
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return text.strip()


def frozen(problem: Problem, ruling: Ruling) -> Problem:
    """The problem whose cases are those that must hold and those believed; the others are kept as outvoted."""
    kept = {*ruling.kept}
    spec = problem.spec
    cases = [case for case in (*spec.cases, *spec.outvoted) if case.binding or case.id in kept]
    left = tuple(case for case in voting(spec) if case.id not in kept)
    return replace(problem, spec=selected(replace(spec, cases=tuple(cases), outvoted=left)))


def selected(spec: Spec) -> Spec:
    """The spec with the selectors of its cases; whole docstrings and tests that stand for several keep theirs."""
    written = tuple(spec.files)
    own = [each for each in spec.selectors if not each.startswith(written)] if written else list(spec.selectors)
    ours = [case.id for case in spec.cases if case.id.partition("::")[0] in spec.files]
    return replace(spec, selectors=tuple(dict.fromkeys([*own, *ours])))


def question(case: Case, known: Equation | None) -> str:
    if known is None:
        return f"Should this always hold: {case.source}?"
    if known.raises:
        return f"Should `{known.call}` raise {known.raises}?"
    return f"Is `{known.call} == {known.expected}` right?"


def _others(case: Case, known: Equation, found: Sequence[Ballot]) -> dict[str, str]:
    """What other candidates gave for the same call, heaviest first, as options of the question."""
    weights: Counter[str] = Counter()
    for ballot in found:
        value = ballot.seen.get(case.id, "")
        if value != normal(known.expected) and len(value) <= LONGEST and _literal(value):
            weights[value] += ballot.weight
    return {f"It is {value}": value for value, _weight in weights.most_common(OTHERS)}


def _typed(text: str | None) -> str:
    """A typed value as source; nothing where there is none that can be read."""
    try:
        return expression(text or "")
    except ValueError:
        return ""


def _literal(text: str) -> bool:
    """Is it a value that can be offered? `! ValueError` and `failed` say what happened, and are none."""
    try:
        ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return False
    return True


def _call(case: Case) -> str:
    known = equation(case.source)
    return known.call if known else ""


def _without(spec: Spec, ids: set[str]) -> Spec:
    return replace(
        spec,
        cases=tuple(case for case in spec.cases if case.id not in ids),
        outvoted=tuple(case for case in spec.outvoted if case.id not in ids),
    )


def _told(problem: Problem) -> str:
    believed = sum(not case.binding for case in problem.spec.cases)
    every = len(voting(problem.spec))
    return f"{believed} of {every} tests that were written for the docstring are believed."
