"""Splits the cases of a run by the time that each took before, and merges what the parts reported into one execution.

Pure functions; they must not know where the parts run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from greenloop_sandbox import Execution, collected_cases, forged
from greenloop_sandbox.report.cases import collect_errors, records_of_kind

Record = Mapping[str, Any]
# Records that a run has once, whatever number of cases it has; all others belong to a case or may be repeated.
_ONCE = frozenset({"start", "collect_error", "collected", "finished"})
_TESTS_FAILED = 1  # pytest's exit status
UNMEASURED_SECONDS = 1.0  # of a case, where no case has been measured


def split_cases(cases: Sequence[str], seconds: Mapping[str, float], parts: int) -> list[tuple[str, ...]]:
    """Splits the ids into at most so many parts that take about as long, each in the order given.

    Cases of a file stay together, because they may share fixtures, unless they take longer than a part should: then
    the file is cut between its cases. The longest group goes to the part with least to do (longest processing time
    first; Graham, "Bounds on Multiprocessing Timing Anomalies", 1969).
    """
    measured = [seconds[case] for case in cases if case in seconds]
    unmeasured = sum(measured) / len(measured) if measured else UNMEASURED_SECONDS
    costs = {case: seconds.get(case, unmeasured) for case in cases}
    share = sum(costs.values()) / max(parts, 1)
    groups = [group for file in _by_file(cases) for group in _cut(file, costs, share)]
    loads = [0.0] * max(parts, 1)
    chosen: list[set[str]] = [set() for _ in loads]
    for group in sorted(groups, key=lambda group: -sum(costs[case] for case in group)):
        part = loads.index(min(loads))
        loads[part] += sum(costs[case] for case in group)
        chosen[part].update(group)
    return [tuple(case for case in cases if case in part) for part in chosen if part]


def _by_file(cases: Sequence[str]) -> Iterable[list[str]]:
    files: dict[str, list[str]] = {}
    for case in cases:
        files.setdefault(case.partition("::")[0], []).append(case)
    return files.values()


def _cut(file: Sequence[str], costs: Mapping[str, float], share: float) -> Iterable[list[str]]:
    """The file's cases in runs of at most `share` seconds; one case alone may take longer."""
    group: list[str] = []
    total = 0.0
    for case in file:
        if group and total + costs[case] > share:
            yield group
            group, total = [], 0.0
        group.append(case)
        total += costs[case]
    yield group


def merge(parts: Sequence[Execution], order: Sequence[str]) -> Execution:
    """One execution out of those of the parts; `order` are the ids of all cases, as they were collected.

    A part that a candidate has disturbed (a broken sandbox, a forged report, an early end) is returned as it is, so
    that it is judged for what it is: nothing in the other parts may hide it.
    """
    if len(parts) == 1:
        return parts[0]
    for part in parts:
        if _is_odd(part):
            return part
    if len({_versions(part) for part in parts if any(records_of_kind(part, "start"))}) > 1:
        return Execution(broken="The nodes of the cluster have different versions of Python or pytest.")
    killed = next((part for part in parts if part.killed), None)
    finished = [part for part in parts if not part.killed]
    last = killed or _worst(finished)
    # What was killed comes last, as in a run on one machine: its last case is the one that did not end.
    ordered = [*finished, *(part for part in parts if part.killed)]
    return Execution(
        records=tuple({**record, "seq": number} for number, record in enumerate(_merged_records(ordered, last, order))),
        status=last.status,
        killed=last.killed,
        output="\n".join(filter(None, (part.output for part in ordered))),
        leftover=sum(part.leftover for part in parts),
        seconds=max(part.seconds for part in parts),
        silent=last.silent,
    )


def _is_odd(part: Execution) -> bool:
    if part.broken or forged(part):
        return True
    if part.killed:
        return False
    ends = list(records_of_kind(part, "finished"))
    is_collected_once = sum(1 for _ in records_of_kind(part, "collected")) == 1
    return len(ends) != 1 or ends[0].get("status") != part.status or not (is_collected_once or collect_errors(part))


def _worst(parts: Sequence[Execution]) -> Execution:
    """The part whose end counts: one that pytest itself broke off, else one with failed tests."""
    return max(parts, key=lambda part: (part.status not in (0, _TESTS_FAILED), part.status or 0))


def _versions(part: Execution) -> tuple[str, ...]:
    return tuple(f"{record.get('pytest')} {record.get('python')}" for record in records_of_kind(part, "start"))


def _merged_records(parts: Sequence[Execution], last: Execution, order: Sequence[str]) -> Iterable[Record]:
    yield from list(records_of_kind(parts[0], "start"))[:1]
    errors = (record for part in parts for record in records_of_kind(part, "collect_error"))
    yield from {str(record.get("id")): record for record in errors}.values()
    if any(collected_cases(part) for part in parts):
        yield _merged_collection(parts, order)
    for part in parts:
        yield from (record for record in part.records if record.get("kind") not in _ONCE)
    if not last.killed:
        yield from records_of_kind(last, "finished")


def _merged_collection(parts: Sequence[Execution], order: Sequence[str]) -> Record:
    """All cases that some part collected; deselected are those that every part left out."""
    records = [record for part in parts for record in records_of_kind(part, "collected")]
    cases = {str(case["id"]): case for record in records for case in record.get("cases", ())}
    place = {case: number for number, case in enumerate(order)}
    left_out = [set(map(str, record.get("deselected", ()))) for record in records]
    return {
        "kind": "collected",
        "cases": sorted(cases.values(), key=lambda case: place.get(str(case["id"]), len(place))),
        "deselected": sorted(set.intersection(*left_out)),
    }
