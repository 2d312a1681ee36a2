"""Feedback parts that run something, through a real wall."""

from __future__ import annotations

import random
from types import SimpleNamespace

import pytest

from greenloop.core.compose import compose
from greenloop.core.records.attempt import Attempt, Candidate
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Case, Region, Spec
from greenloop.core.verdict import judge
from greenloop_lab.drafting.feedback import docs, runtime_trace
from greenloop_sandbox import TestRun

pytestmark = pytest.mark.needs("bubblewrap")

CASE = "test_m.py::test_it"


@pytest.fixture
def tried(tmp_path, lay, opened):
    """`tried(code, assertion, candidate=None)`: (problem, attempts, tools) after the newest attempt has failed."""

    async def run(code: str, assertion: str, candidate: str | None = None, seconds: float = 60.0):
        test = f"import m\n\n\ndef test_it():\n    {assertion}\n"
        root = lay(tmp_path / "w", {"m.py": code, "test_m.py": test})
        region = Region(path="m.py", qualname="f", start=1, end=code.count("\n"))
        texts = {"m.py": code, "test_m.py": test}
        problem = Problem(
            root=root,
            spec=Spec(cases=(Case(id=CASE, path="test_m.py", line=4),), selectors=(CASE,)),
            regions=(region,),
            originals=texts,
            files=texts,
        )
        session = await opened(root)

        async def again(attempt, selectors, watch, seconds=60.0):
            files = compose(problem, attempt.candidate) if attempt.candidate else {}
            laid = {path: text.encode() for path, text in files.items()}
            return await session.run(
                TestRun(selectors=tuple(selectors), files=laid, watch=tuple(watch), seconds=seconds)
            )

        made = Candidate(texts={region: candidate}) if candidate else None
        attempt = Attempt(number=int(bool(made)), verdict=judge([CASE], {}, await again(FRESH, [CASE], ())))
        attempt = Attempt(number=attempt.number, candidate=made, verdict=attempt.verdict)
        if made:
            verdict = judge([CASE], {}, await again(attempt, [CASE], (), seconds))
            attempt = Attempt(number=1, candidate=made, verdict=verdict)
        return problem, [attempt], SimpleNamespace(run=again, rng=random.Random(0), session=session)

    return run


FRESH = SimpleNamespace(candidate=None)


@pytest.mark.story("errors are traced for the model")
async def test_a_trace_of_a_candidate(tried):
    candidate = "def f(items):\n    best = 0\n    for i in items:\n        if i > best:\n            best = i\n    return best\n"
    found = await tried("def f(items):\n    return 0\n", "assert m.f([-3, -1]) == -1", candidate)
    note = await runtime_trace.describe(*found)
    assert note.text == (
        "[BLOCK-1]\nbest = 0\n# after: best=0\n"
        "[BLOCK-2]\n# before: items=[-3, -1]\nfor i in items:\n# after: i=-3\n"
        "[BLOCK-3]\n# before: best=0, i=-3\nif i > best:\n"
        "[BLOCK-4]\n# before: items=[-3, -1], i=-3\nfor i in items:\n# after: i=-1\n"
        "[BLOCK-5]\n# before: best=0, i=-1\nif i > best:\n"
        "[BLOCK-6]\n# before: items=[-3, -1], i=-1\nfor i in items:\n"
        "[BLOCK-7]\n# before: best=0\nreturn best\n# after: return 0\n"
        "`assert m.f([-3, -1]) == -1` fails: the output was 0."
    )


THREADED = """def f(n):
    import threading
    out = []
    def work():
        out.append(n)
    t = threading.Thread(target=work)
    t.start()
    t.join()
    return out
"""


@pytest.mark.parametrize(
    ("code", "assertion", "told"),
    [
        ("def f(n):\n    return f(n + 1)\n", "assert m.f(1) == 0", "RecursionError"),
        ("def f(n):\n    yield n\n    yield n + 1\n", "assert list(m.f(1)) == [1]", "yield 2"),
        ("async def f(n):\n    n += 1\n    return n\n", "import asyncio; assert asyncio.run(m.f(1)) == 1", "return 2"),
        (
            THREADED,
            "assert m.f(1) == [2]",
            "out.append(n)",
        ),
        (
            "def f(n):\n" + "".join(f"    n += {k}\n" for k in range(3000)) + "    return n\n",
            "assert m.f(1) == 0",
            "...",
        ),
    ],
    ids=["recursion", "generator", "async", "threads", "three thousand lines"],
)
async def test_traces_of_anything_are_short(tried, code, assertion, told):
    note = await runtime_trace.describe(*await tried(code, assertion, code))
    assert "[BLOCK-1]" in note.text
    assert told in note.text
    assert len(note.text) < 3000


async def test_a_loop_without_end_has_a_trace(tried):
    code = "def f(n):\n    while n > 0:\n        n -= 0\n    return n\n"
    problem, attempts, tools = await tried("def f(n):\n    return n\n", "assert m.f(1) == 0", code, 2.0)
    assert attempts[0].verdict.status == "timeout"
    note = await runtime_trace.describe(problem, attempts, tools)
    assert "# before: n=1\nn -= 0\n" in note.text
    assert "without an end in sight" in note.text
    assert len(note.text) < 3000


async def test_a_crash_has_no_trace_but_says_what_happened(tried):
    code = "def f(n):\n    import os\n    os.kill(os.getpid(), 9)\n"
    note = await runtime_trace.describe(*await tried("def f(n):\n    return 0\n", "assert m.f(1) == 1", code))
    assert "[BLOCK" not in note.text
    assert "SIGKILL" in note.text


# -- docs -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "told"),
    [
        (
            "import math\ndef f(n):\n    return math.squareroot(n)\n",
            "`math.squareroot` does not exist. Nearest:\nmath.sqrt(x, /): Return the square root of x.",
        ),
        (
            "from math import squareroot\ndef f(n):\n    return squareroot(n)\n",
            "`math.squareroot` does not exist. Nearest:\nmath.sqrt(x, /): Return the square root",
        ),
        ("def f(n):\n    return [n].push(1)\n", "`list.push` does not exist. list has: append, clear, copy, count,"),
        ("def f(n):\n    return sqrt(n)\n", "`sqrt` is not defined here. There is:\nmath.sqrt(x, /): Return"),
        (
            "def f(n):\n    return sorted([n], by=1)\n",
            "Library: sorted(iterable, /, *, key=None, reverse=False): Return a",
        ),
        (
            "import textwrap as t\ndef f(n):\n    return t.shorten('a', length=3)\n",
            "Library: textwrap.shorten(text, width, **kwargs): Collapse and truncate",
        ),
        ("import itertool\ndef f(n):\n    return n\n", "`itertool` does not exist. Nearest:\nitertools"),
        (
            "import datetime\ndef f(n):\n    return datetime.datetime.nows()\n",
            "`datetime.datetime.nows` does not exist. Nearest:\ndatetime.datetime.now(",
        ),
    ],
    ids=["attribute", "import", "method", "name", "builtin", "signature", "module", "dotted"],
)
async def test_what_a_library_really_offers(tried, code, told):
    note = await docs.describe(*await tried("def f(n):\n    return 0\n", "assert m.f(4) == 2", code))
    assert note.text.startswith(told)
    assert len(note.text) < 1000


@pytest.mark.parametrize(
    "code",
    [
        "def f(n):\n    return n\n",
        "def f(n):\n    return None.a\n",
        "def g(a):\n    return a\ndef f(n):\n    return g(b=n)\n",
        "class C:\n    pass\ndef f(n):\n    return C().missing\n",
        "def f(n):\n    return n + 'a'\n",
        "import m\ndef f(n):\n    return m.missing\n",
    ],
    ids=["assertion", "None", "own function", "own class", "no library", "the workspace's module"],
)
async def test_nothing_is_said_of_what_is_no_librarys(tried, code):
    note = await docs.describe(*await tried("def f(n):\n    return 0\n", "assert m.f(4) == 2", code))
    assert note.text == ""


async def test_an_assertion_triggers_no_look_up(tried):
    problem, attempts, _tools = await tried("def f(n):\n    return 0\n", "assert m.f(4) == 2")
    assert await docs.describe(problem, attempts, SimpleNamespace(session=None)) == docs.FeedbackNote(text="")


async def test_the_look_up_imports_nothing_of_the_workspace(tried):
    code = "import m2\ndef f(n):\n    return m2.missing\n"
    problem, _attempts, tools = await tried("def f(n):\n    return 0\n", "assert m.f(4) == 2", code)
    (problem.root / "m2.py").write_text("import math\nraise SystemExit('imported')\n")
    asked = [{"kind": "attribute", "owner": "m2", "name": "missing", "modules": ["m2"]}]
    execution = await tools.session.run(TestRun(selectors=(docs.FILE,), files={docs.FILE: docs.lookup_file(asked)}))
    assert docs.case_results(execution)[0].failure.message == "{}"
