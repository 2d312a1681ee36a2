"""The wall that stays: what one run leaves for the next (nothing), what is learnt from the user's own code, and what
becomes of it when something changes or breaks."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import signal
from collections.abc import Mapping
from textwrap import dedent

import pytest

from greenloop_sandbox import Execution, SandboxSpec, TestRun
from greenloop_sandbox.backends import _mounts, _resident
from greenloop_sandbox.backends._supervisor import descendants
from greenloop_sandbox.backends.bubblewrap import Bubblewrap
from greenloop_sandbox.report import cases as report

TEST = "from m import v\ndef test_a(): assert v == 1\ndef test_b(): assert v in (1, 2)\n"


@pytest.fixture
async def session(tmp_path, lay, bare_environment):
    root = lay(tmp_path / "w", {"pytest.ini": "[pytest]\n", "m.py": "v = 1\n", "test_m.py": TEST})
    opened = await Bubblewrap().open(SandboxSpec(root=root, environment=bare_environment, masked=(".env*",)))
    yield opened
    await opened.close()
    assert descendants(os.getpid()) == []


def outcomes(execution: Execution) -> dict[str, str]:
    assert not execution.broken, execution.broken
    return {result.id.partition("::")[2]: result.outcome for result in report.case_results(execution)}


async def ran(session: _resident.ResidentSession, files: Mapping[str, str] | None = None, **more) -> dict[str, str]:
    laid = {path: text.encode() for path, text in (files or {}).items()}
    return outcomes(await session.run(TestRun(**{"selectors": ("test_m.py",), "files": laid, **more})))


async def taught(session: _resident.ResidentSession, *selectors: str) -> _resident.Warmup:
    """What a run of the user's own code teaches, learnt to the end."""
    await ran(session, baseline=True, selectors=selectors or ("test_m.py",))
    assert session._learning is not None
    await session._learning
    return session.warmup


@pytest.mark.story("a sandbox stays for a session")
async def test_both_ways_agree_and_the_faster_one_is_used(session):
    assert (await taught(session)).agreed_selectors == {"test_m.py", "test_m.py::test_a", "test_m.py::test_b"}
    assert session._instances[0].has_session
    assert await ran(session) == {"test_a": "passed", "test_b": "passed"}
    assert await ran(session, {"m.py": "v = 2\n"}) == {"test_a": "failed", "test_b": "passed"}
    assert await ran(session, {"m.py": "v = \n"}) == {}
    assert await ran(session, {"m.py": "while True: pass\n"}, seconds=1.0) == {}
    assert await ran(session) == {"test_a": "passed", "test_b": "passed"}
    assert len(session._instances) == 1


async def test_a_file_that_is_saved_before_it_has_learnt_says_nothing_against_the_faster_way(session):
    await ran(session, baseline=True)
    (session._spec.root / "m.py").write_text("v = 2\n")
    await session._learning
    assert session.warmup.session_allowed
    assert session.warmup.agreed_selectors == {"test_m.py", "test_m.py::test_a", "test_m.py::test_b"}
    assert await ran(session) == {"test_a": "failed", "test_b": "passed"}


async def test_a_failure_tells_the_same_either_way(session):
    wrong = TestRun(selectors=("test_m.py",), files={"m.py": b"v = 2\n"})
    fresh = await session.run(wrong)
    await taught(session)
    again = await session.run(wrong)
    for execution in (fresh, again):
        failure = report.case_results(execution)[0].failure
        assert (failure.type, failure.observed, failure.expected) == ("AssertionError", "2", "1")
        assert [(frame.path, frame.line) for frame in failure.frames] == [("test_m.py", 2)]
    assert report.case_results(fresh)[0].failure.text == report.case_results(again)[0].failure.text


@pytest.mark.story("nothing of a run reaches the next")
async def test_nothing_of_a_run_reaches_the_next(session):
    left = """
        import ctypes, os, pathlib, tempfile
        v = 1
        pathlib.Path(tempfile.gettempdir(), '..', 'left').write_text('x')
        pathlib.Path('/dev/shm/left').write_text('x')
        pathlib.Path('conftest.py').write_text('raise SystemExit')
        pathlib.Path('sitecustomize.py').write_text('raise SystemExit')
        os.unlink('pytest.ini')
        libc = ctypes.CDLL(None)
        assert libc.shmget(4242, 4096, 0o1666) >= 0
    """
    look = """
        import ctypes, os
        v = 1
        assert sorted(os.listdir('.')) == ['m.py', 'pytest.ini', 'test_m.py'], os.listdir('.')
        assert not os.path.exists('/tmp/left') and os.listdir('/dev/shm') == []
        assert ctypes.CDLL(None).shmget(4242, 4096, 0) == -1
    """
    good = {"test_a": "passed", "test_b": "passed"}
    assert await ran(session, {"m.py": dedent(left)}) == good
    assert await ran(session, {"m.py": dedent(look)}) == good
    assert sorted(path.name for path in session._spec.root.iterdir()) == ["m.py", "pytest.ini", "test_m.py"]


async def test_a_conftest_with_options_of_its_own_needs_a_fresh_pytest(session):
    root = session._spec.root
    (root / "conftest.py").write_text("def pytest_addoption(parser): parser.addoption('--level', default='7')\n")
    (root / "test_o.py").write_text("def test_o(request): assert request.config.getoption('level') == '7'\n")
    learnt = await taught(session, "test_o.py")
    assert not learnt.agreed_selectors
    assert await ran(session, selectors=("test_o.py",)) == {"test_o": "passed"}


async def test_a_run_without_the_prepared_session_keeps_its_log_files_open(session):
    """Another file with a number of theirs would be closed with them, by `logging.config.dictConfig` for example."""
    text = dedent("""\
        import logging, os
        def test_l():
            handlers = [reference() for reference in logging._handlerList]
            files = [each.stream.fileno() for each in handlers if isinstance(each, logging.FileHandler)]
            assert [os.readlink(f"/proc/self/fd/{number}") for number in files] == ["/dev/null"] * 2
    """)
    await taught(session)
    assert await ran(session, {"test_l.py": text}, selectors=("test_l.py",)) == {"test_l": "passed"}


async def test_hooks_of_conftests_run_as_in_a_fresh_pytest(session):
    root = session._spec.root
    hooks = "".join(
        f"def {name}(*a, **k): print('seen {name}')\n".replace("*a, **k", argument)
        for name, argument in (
            ("pytest_configure", "config"), ("pytest_sessionstart", "session"), ("pytest_sessionfinish", "session"),
            ("pytest_unconfigure", "config"), ("pytest_collection_finish", "session"),
        )
    )  # fmt: skip
    (root / "conftest.py").write_text(hooks)
    (root / "pytest.ini").write_text("[pytest]\naddopts = -s\n")
    run = TestRun(selectors=("test_m.py",))
    fresh = re.findall(r"seen \w+", (await session.run(run)).output)
    await taught(session)
    again = re.findall(r"seen \w+", (await session.run(run)).output)
    assert session.warmup.agreed_selectors
    assert len(fresh) == 5
    assert sorted(again) == sorted(fresh)


async def test_a_plugin_of_the_workspace_is_never_imported_before_the_fork(session):
    root = session._spec.root
    (root / "mine.py").write_text("import m\nORDER = m.v\n")
    (root / "pytest.ini").write_text("[pytest]\naddopts = -p mine\n")
    learnt = await taught(session)
    assert not learnt.session_allowed
    assert await ran(session, {"m.py": "v = 2\n"}) == {"test_a": "failed", "test_b": "passed"}


@pytest.mark.story("a sandbox stays for a session")
async def test_what_is_saved_on_the_disk_is_seen_at_once(session):
    root = session._spec.root
    await taught(session)
    (root / "m.py").write_text("v = 2\n")
    assert (await ran(session))["test_a"] == "failed"
    (root / "new.py").write_text("v = 1\n")
    os.replace(root / "new.py", root / "m.py")  # as editors save
    assert (await ran(session))["test_a"] == "passed"
    (root / "pytest.ini").write_text("[pytest]\npython_functions = nothing_*\n")
    assert await ran(session) == {}


async def test_slow_packages_are_imported_before_the_fork_and_those_with_threads_are_not(session, bare_environment):
    folder = next(bare_environment.prefix.glob("lib/python*/site-packages"))
    names = {
        "greenloop_slow": "import time\ntime.sleep(0.05)\nSTAMP = time.monotonic()\n",
        "greenloop_threads": "import threading, time\ntime.sleep(0.05)\nthreading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n",
        "greenloop_quick": "",
        "greenloop_foreign": "import time\ntime.sleep(0.05)\nimport m\n",
    }  # fmt: skip
    written = [folder / f"{name}.py" for name in names]
    try:
        for path in written:
            path.write_text(names[path.stem])
        root = session._spec.root
        (root / "test_p.py").write_text("import " + ", ".join(names) + "\ndef test_p(): print(greenloop_slow.STAMP)\n")
        assert (await taught(session, "test_p.py")).modules == ["greenloop_slow"]
        (root / "pytest.ini").write_text("[pytest]\naddopts = -s\n")  # a new wall gets what the old one has learnt
        stamps = {
            re.search(r"\d+\.\d+", (await session.run(TestRun(selectors=("test_p.py",)))).output)[0] for _ in range(2)
        }
        assert len(stamps) == 1
        assert session.warmup.modules == ["greenloop_slow"]
    finally:
        for path in written:
            path.unlink()


async def test_slow_modules_of_a_package_that_is_quick_itself_are_imported_before_the_fork(session, bare_environment):
    folder = next(bare_environment.prefix.glob("lib/python*/site-packages")) / "greenloop_package"
    folder.mkdir()
    try:
        (folder / "__init__.py").touch()
        (folder / "slow").mkdir()
        (folder / "slow" / "__init__.py").write_text("import time\nimport greenloop_package.slow.part\n")
        (folder / "slow" / "part.py").write_text("import time\ntime.sleep(0.05)\n")
        (folder / "quick.py").touch()
        imports = "import greenloop_package.quick, greenloop_package.slow\n"
        (session._spec.root / "test_p.py").write_text(f"{imports}def test_p(): pass\n")
        assert (await taught(session, "test_p.py")).modules == ["greenloop_package.slow"]
    finally:
        shutil.rmtree(folder)


async def test_hidden_files_are_looked_for_while_the_sandbox_opens(session):
    (session._spec.root / "sub").mkdir()
    await session.warm()
    assert {*session._scanner._workspace._listings} == {"", "sub"}


async def test_a_wall_that_was_killed_is_built_again(session):
    assert (await ran(session))["test_a"] == "passed"
    for pid in descendants(os.getpid()):
        os.kill(pid, signal.SIGKILL)
    await session._instances[0].supervisor._process.wait()
    assert (await ran(session))["test_a"] == "passed"


async def test_walls_are_taken_down_after_many_runs_and_after_a_suspicious_one(session):
    await ran(session)
    assert session._instances[0].runs == 1
    session._instances[0].runs = _resident.MAX_RUNS - 1
    await ran(session)
    assert not session._instances
    await session.run(TestRun(selectors=("test_m.py",), files={"m.py": b"import os\nos.kill(os.getpid(), 9)\n"}))
    assert not session._instances
    assert (await ran(session))["test_a"] == "passed"


async def test_without_rights_to_mount_each_run_gets_a_wall_of_its_own(session, monkeypatch, caplog):
    monkeypatch.setattr(_mounts, "_CAPABILITIES", ())
    assert await ran(session) == {"test_a": "passed", "test_b": "passed"}
    assert not session._instances
    assert "Each run gets a sandbox of its own" in caplog.text
    assert await ran(session, {"m.py": "v = 2\n"}) == {"test_a": "failed", "test_b": "passed"}


async def test_two_hash_seeds_stand_side_by_side(session):
    (session._spec.root / "test_h.py").write_text("import os\ndef test_h(): print(os.environ['PYTHONHASHSEED'])\n")
    for seed in (0, 7, 0, 9):
        assert await ran(session, selectors=("test_h.py",), hash_seed=seed) == {"test_h": "passed"}
    assert len(session._instances) == 2


async def test_an_instance_in_use_is_left_to_its_run(session):
    (session._spec.root / "test_slow.py").write_text("import time\ndef test_slow(): time.sleep(1)\n")
    runs = [ran(session, selectors=("test_slow.py",), hash_seed=seed) for seed in (0, 7, 9)]
    assert await asyncio.gather(*runs) == [{"test_slow": "passed"}] * 3
    await ran(session, hash_seed=4)
    assert len(session._instances) == 2
