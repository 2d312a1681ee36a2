"""What is known of a suite in which cases hang or end the process, with a sandbox that answers as the test says."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from greenloop.localize.measuring import SHORTEST, Measurement
from greenloop_sandbox import Execution, Limits

LIMIT = 10.0


class Suite:
    """Cases by id: `pass`, `hang` (in `m.py:f`), `slow` (4 s elsewhere), `crash`; and every run that was asked for."""

    def __init__(self, **cases: str) -> None:
        self.cases, self.runs = cases, []
        self.place = SimpleNamespace(limits=Limits(seconds=LIMIT))
        self.now = 0.0

    async def run(self, *selectors: Any, **options: Any) -> Execution:
        execution = self.answer(*selectors, **options)
        self.now += execution.seconds
        return execution

    def answer(self, selectors, _stubs, *, seconds=LIMIT, case_seconds=0.0, collect=False, only=(), **_options: Any):
        chosen = [case for case in self.cases if selectors == ("all",) or case in selectors]
        self.runs.append((tuple(chosen), case_seconds, collect))
        records: list[dict[str, object]] = [{"kind": "start", "root": "/w"}]
        records.append({"kind": "collected", "cases": [{"id": case, "path": "t.py", "line": 1} for case in chosen]})
        if collect:
            return Execution(records=tuple(records), status=0)
        spent = 0.0
        for case in chosen:
            records.append({"kind": "begin", "id": case})
            kind, limit = self.cases[case], min(case_seconds or seconds, seconds - spent)
            takes = {"hang": 1e9, "slow": 4.0}.get(kind, 0.01)
            if kind == "crash":
                return Execution(records=tuple(records), status=-11, seconds=spent)
            if takes > limit:
                where = "/w/m.py" if kind == "hang" else "/w/t.py"
                stack = f'Thread 1 (most recent call first):\n  File "{where}", line 2 in f\n'
                spent += limit
                return Execution(
                    records=tuple(records), status=-9, killed="timeout", output=stack, seconds=spent, silent=limit
                )
            spent += takes
            for when in ("setup", "call", "teardown"):
                record = {"kind": "phase", "id": case, "when": when, "outcome": "passed", "type": None}
                records.append({**record, "seconds": takes if when == "call" else 0.0})
        return Execution(records=(*records, {"kind": "finished", "status": 0}), status=0, seconds=spent)


def timed(suite: Suite, **options: Any) -> Any:
    """A measurement for which time passes as the suite says."""
    context: Any = suite
    return Measurement(context=context, clock=lambda: suite.now, **options)


async def measured(suite: Suite, **options: Any) -> Measurement:
    measurement = timed(suite, **options)
    await measurement.run(("all",), seconds=60.0)
    return measurement


async def test_code_that_hangs_is_noticed_once_and_the_others_get_a_short_limit():
    suite = Suite(a="pass", b="hang", c="hang", d="pass", e="hang")
    found = await measured(suite)
    outcomes = {case: result.failure.type if result.failure else "" for case, result in found.results.items()}
    assert outcomes == {"a": "", "b": "Timeout", "c": "Timeout", "d": "", "e": "Timeout"}
    assert [limit for _chosen, limit, _collect in suite.runs] == [LIMIT, SHORTEST, SHORTEST]
    assert (found.unknown, found.hangs) == ((), True)


async def test_what_is_only_slow_gets_its_time_in_the_end():
    suite = Suite(a="hang", b="slow", c="pass")
    found = await measured(suite)
    assert found.outcomes == {"a": "failed", "b": "passed", "c": "passed"}
    assert [chosen for chosen, _limit, _collect in suite.runs][-1] == ("b",)


async def test_a_case_that_ends_the_process_takes_nothing_from_the_others():
    found = await measured(Suite(a="crash", b="pass", c="crash", d="pass"))
    assert found.outcomes == {"a": "failed", "b": "passed", "c": "failed", "d": "passed"}


async def test_with_patience_a_case_is_cut_twice_before_it_is_called_hanging():
    suite = Suite(a="hang", b="pass")
    found = await measured(suite, is_patient=True)
    assert found.outcomes == {"a": "failed", "b": "passed"}
    assert [chosen for chosen, _limit, _collect in suite.runs] == [("a", "b"), ("b",), ("a",)]


async def test_what_the_time_did_not_suffice_for_stays_unknown():
    suite = Suite(**{f"c{number}": "slow" for number in range(5)})
    measurement = timed(suite, is_patient=True)
    await measurement.run(("all",), seconds=9.0)
    assert (list(measurement.results), measurement.unknown) == (["c0", "c1"], ("c2", "c3", "c4"))
    await measurement.go_on(60.0)
    assert measurement.unknown == ()


async def test_cases_are_left_out_by_collecting_first():
    suite = Suite(a="pass", b="pass")
    measurement = timed(suite)
    await measurement.run(("all",), seconds=9.0, without={"a"})
    assert [(chosen, collect) for chosen, _limit, collect in suite.runs] == [(("a", "b"), True), (("b",), False)]


async def test_a_hasty_run_leaves_slow_cases_for_later_and_ends_where_all_are_slow():
    suite = Suite(a="slow", b="pass", c="pass")
    measurement = timed(suite, is_patient=True)
    await measurement.run(("all",), seconds=60.0, most_each=1.0)
    assert (list(measurement.results), measurement.unknown) == (["b", "c"], ("a",))
    slow = Suite(**{f"c{number}": "slow" for number in range(5)})
    measurement = timed(slow, is_patient=True)
    await measurement.run(("all",), seconds=60.0, most_each=1.0)
    assert (slow.now, measurement.unknown) == (2.0, tuple(slow.cases))
    await measurement.go_on(60.0)
    assert measurement.unknown == ()
