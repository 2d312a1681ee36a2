"""What an edit is planned from: texts are compared in a thread, and pipes and giants are no texts."""

import asyncio
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import AsyncMock

from editor_runs import a_run, record
from greenloop.api import result_files
from greenloop.core.events import Started
from greenloop.core.records.attempt import Attempt
from greenloop.core.records.model import Usage
from greenloop.core.records.outcome import Outcome, StopReason, Verified
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Case, Spec, Target, TargetKind
from greenloop.core.records.verdict import Status, Verdict
from greenloop.lsp.connection.client import Capabilities
from greenloop.lsp.documents.open_documents import Documents
from greenloop.lsp.presenters.progress import describe
from greenloop.lsp.runs.apply_edit import EditApplier

TARGET = Target(
    kind=TargetKind.TEST, path="t.py", qualname="test_f", selector="t.py::test_f", start=1, end=2, name_line=1
)


def a_solved_run(root):
    outcome = Outcome(
        solved=True,
        verified=Verified.VERIFIED,
        reason=StopReason.SOLVED,
        message="",
        attempts=(),
        before={"m.py": "x = 1\n"},
        after={"m.py": "x = 2\n"},
    )
    return a_run(root, TARGET, began_at=time.monotonic(), outcome=outcome)


async def test_comparing_texts_leaves_the_event_loop_alone(tmp_path, monkeypatch):
    (tmp_path / "m.py").write_text("x = 2\n")
    threads = []
    monkeypatch.setattr(result_files, "contains", lambda *_texts: threads.append(threading.current_thread()) or True)
    client = SimpleNamespace(capabilities=Capabilities(apply_edit=True, document_changes=True, create_files=True))
    engines = SimpleNamespace(engine=AsyncMock(return_value=None))
    applier = EditApplier(SimpleNamespace(client=client, documents=Documents()), engines, None)
    landing = await asyncio.wait_for(applier.apply(a_solved_run(tmp_path)), 10)
    assert landing.applied
    assert threads
    assert threading.main_thread() not in threads


def test_the_progress_line_names_the_price_where_it_is_known():
    def attempt(number, cost):
        verdict = Verdict(status=Status.FAILED)
        return Attempt(number=number, verdict=verdict, usage=Usage(prompt_tokens=1000, cost=cost))

    run = a_run(Path("/"), TARGET, began_at=time.monotonic())
    problem = Problem(
        root=Path("/"), spec=Spec(cases=(Case(id="t", path="t.py", line=1),)), regions=(), originals={}, files={}
    )
    record(run, Started(problem=problem, baseline=attempt(0, 0.0), model="m", preset="p", sandbox="s", attempts=5))
    run.attempts.append(attempt(1, 0.0012))
    assert "· 2,000 tokens · $0.0012 · " in describe(run)
    run.attempts.append(attempt(2, None))
    assert "$" not in describe(run)
