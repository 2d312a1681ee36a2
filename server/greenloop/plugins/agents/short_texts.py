"""Short texts about a verification and an explanation: what an agent or a person reads of them.

They must not know who shows them.
"""

from __future__ import annotations

from collections.abc import Iterator

from greenloop.api import events_json
from greenloop.api.testing import Explanation
from greenloop.api.verification import Verification
from greenloop.core.text.redact import escape_controls, first_line
from greenloop.wording.step import next_step, why_not_proven

LONGEST = 1_600  # characters, about 400 tokens
MOST = 5  # tests of one kind
SUSPECTS = 5
MESSAGE = 7  # lines of a message: the values that an assertion compared
VALUES = 8  # of a frame
VALUE = 60  # characters of a value


def describe_verification(result: Verification) -> str:
    """The answer for the agent; empty where it may stop."""
    if result.is_proven or result.nothing_staged:
        return ""
    step = next_step(result.state.value)
    return shorten(
        "\n".join(map(escape_controls, [*_verification_lines(result), *([f"Next: {step}"] if step else [])]))
    )


def shorten(text: str) -> str:
    """At most about 400 tokens; the last line, which says what to do, stays."""
    if len(text) <= LONGEST:
        return text
    head, _line, last = text.rpartition("\n")
    return f"{head[: LONGEST - len(last) - 2]}…\n{last}"


def _verification_lines(result: Verification) -> Iterator[str]:
    reason = result.reason or why_not_proven(result.unearned, result.data)
    yield f"greenloop verify: not verified. {first_line(reason, 300)}"
    cases = {case.id: case for case in (*result.cases, *result.new.cases)}
    failed = tuple(dict.fromkeys((*result.failed, *result.new_failing)))
    for name in failed[:MOST]:
        case = events_json.case_object(cases[name]) if name in cases else {}
        place = f", {case['path']}:{case['line']}" if case.get("path") else ""
        error = f": {case['error_class']}: {first_line(case['message'], 100)}" if case.get("error_class") else ""
        yield f"failed: {name}{error}{place}"
    if len(failed) > MOST:
        yield f"and {len(failed) - MOST} more"
    yield from (f"tampered with: {each.case}" for each in result.tampered[:MOST] if each.case)
    yield from (f"not proven: {case}: {first_line(why, 100)}" for case, why in [*result.unearned.items()][:MOST])
    yield from (f"edited, although it judges: {each.path}" for each in result.edits[:MOST])


def describe_explanation(found: Explanation) -> Iterator[str]:
    """The lines that a person reads."""
    baseline = found.baseline
    if baseline.passing:
        yield "It passes, so there is nothing to explain."
        return
    for case in (each for each in baseline.attempt.verdict.cases if not each.passed):
        failure, fields = case.failure, events_json.case_object(case)
        place = f" ({fields['path']}:{fields['line']})" if fields["path"] else ""
        error = f"{failure.type}: {first_line(failure.message)}{place}" if failure else case.outcome
        yield f"{case.id} fails: {error}"
        more = failure.message.strip().splitlines()[1:MESSAGE] if failure else ()
        yield from (f"    {line.strip()}" for line in more if line.strip())
    if baseline.fault:
        yield f"No change of the code can help: {baseline.fault} {baseline.remedy}".strip()
        return
    if found.frames:
        yield "\nValues where it fails:"
    for shown in found.frames:
        yield f"  {shown.place.path}:{shown.place.line} in {shown.place.function}: {shown.code.strip()}"
        for name, value in list(shown.values.items())[:VALUES]:
            yield f"      {name} = {first_line(value, VALUE)}"
    yield "\nMost likely at fault:"
    for number, suspect in enumerate(found.suspects[:SUSPECTS], 1):
        yield f"  {number}. {suspect.qualname}, {suspect.path}:{suspect.start}"
        for line in (each for each in found.lines if each.path == suspect.path):
            if suspect.start <= line.line <= suspect.end:
                yield f"       {line.suspicion:4.2f}  {line.line:>4}  {line.text}"
    if not found.suspects:
        yield "  nothing: no function of the project ran in it"
