"""The port of generated tests (`core/generated_tests.py`): writes them, lets them vote, knows where they are stored."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial

from greenloop.core import registry
from greenloop.core.documentation import read_documentation
from greenloop.core.errors import CannotVerifyError
from greenloop.core.ports import Tools
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import USER_PROVENANCES, Provenance, Spec
from greenloop.core.requirements import Trial
from greenloop.localize.regions import is_unwritten
from greenloop.plugins.written_tests import designed_tests, stored_tests
from greenloop.plugins.written_tests.edited_tests import stored_path
from greenloop.plugins.written_tests.stored_tests import struck_lines
from greenloop.plugins.written_tests.testability import REMEDY, find_untestable_effects, why_unusable
from greenloop.plugins.written_tests.voting import Voting
from greenloop.project.sources import import_name_in_tests

__all__ = ["Voting", "complete", "stored_path", "struck_lines"]


async def complete(
    problem: Problem,
    parts: Sequence[str],
    tools: Tools,
    report_status: Callable[[str], None],
    first_answer: Callable[[Problem], Awaitable[Trial | None]],
) -> Spec:
    """The spec with the stored tests of an earlier run, which the user may have edited, else new ones by these parts.

    Those that would not notice most small mistakes in the model's `first_answer` are written once more.
    Raises `CannotVerifyError` for a docstring that says nothing to test.
    """
    region = problem.regions[0]
    module = import_name_in_tests(region.path, problem.root)
    stored = stored_tests.load(problem.root, region, problem.files[region.path])
    for sentence in stored.messages:
        report_status(sentence)
    spec = problem.spec + stored.spec(module)
    if parts and _may_generate(problem, spec, tools.options["spec.design"]):
        documentation = read_documentation(problem.files[region.path], region.start, region.end)
        unusable_reason = why_unusable(region.qualname, documentation.docstring)
        effects = find_untestable_effects(documentation.header, documentation.docstring or "")
        spec += Spec(doubts=effects)
        for name in () if unusable_reason or effects else filter(partial(registry.has_part, "specs"), parts):
            part = registry.load_part("specs", name)
            # Stored cases of an earlier run make asking again unnecessary.
            if stored.has(getattr(part, "PROVENANCE", None)):
                continue
            report_status("writing tests from the docstring")
            own = replace(problem, spec=spec)
            written = await part.collect(own, tools)
            if hasattr(part, "collect_more") and await designed_tests.are_weak(
                own, written, tools, report_status, first_answer
            ):
                report_status("writing more tests: the first would not notice most small mistakes")
                written = await part.collect_more(own, tools, written)
            spec += stored.without_struck(written)
        if unusable_reason and not spec.cases:
            raise CannotVerifyError(unusable_reason, remedy=REMEDY)
    if spec.open or stored.user_tests:
        for sentence in stored_tests.save(stored, spec, module).messages:
            report_status(sentence)
    return spec


def _may_generate(problem: Problem, spec: Spec, design: str) -> bool:
    """May tests be generated? Examples alone suffice to repair code, but not to write it.

    Of functions written from examples alone four in ten are wrong on other inputs (lab/docs/evidence.md).
    """
    is_unwritten_code = all(is_unwritten(region, problem.files.get) for region in problem.regions)
    sufficient = USER_PROVENANCES - {Provenance.DOCTEST, Provenance.EXAMPLE} if is_unwritten_code else USER_PROVENANCES
    return design == "always" or (design == "auto" and not any(case.provenance in sufficient for case in spec.cases))
