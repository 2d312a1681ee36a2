"""Which cases have another id in every run: only those that the user's own code, collected once more, lacks."""

from dataclasses import replace

import pytest

from greenloop.verdict.related_tests.own_code import vanished
from greenloop_sandbox import Execution
from related_runs import inputs

NOW, STAYS = "t.py::test_now[17]", "t.py::test_stays"


class Collecting:
    """Answers a collection; `asked` are its runs."""

    name = "here"

    def __init__(self, *ids: str, error: bool = False, **about: object) -> None:
        records = [{"kind": "collect_error", "id": "t.py"}] if error else []
        records.append({"kind": "collected", "cases": [{"id": each, "path": "t.py", "line": 1} for each in ids]})
        self.execution = Execution(records=tuple({**each, "seq": n} for n, each in enumerate(records)), **about)
        self.asked = []

    async def run(self, run):
        self.asked.append(run)
        return self.execution


@pytest.mark.parametrize(
    ("session", "gone"),
    [
        (Collecting(STAYS, "t.py::test_now[18]"), {NOW}),
        (Collecting(STAYS, NOW), set()),
        (Collecting(), set()),
        (Collecting(STAYS, killed="timeout"), set()),
        (Collecting(STAYS, error=True), set()),
    ],
    ids=["another id", "the candidate lost it", "nothing collected", "no time", "a broken file"],
)
async def test_only_ids_that_the_own_code_lacks_too_have_vanished(session, gone):
    assert await vanished(replace(inputs(), own={"m.py": b"mine"}), session, [NOW, STAYS]) == gone
    (run,) = session.asked
    assert run.collect
    assert run.selectors == ("t.py",)
    assert run.files["m.py"] == b"mine"
