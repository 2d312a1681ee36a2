"""`greenloop fix` as a program, behind a real wall: bad input ends in one sentence, the right code, and nothing lost."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

import greenloop

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(300)]

SERVER = str(Path(greenloop.__file__).parents[1])
CODE = "def double(x):\n    return x + 1\n"
TEST = "from m import double\n\n\ndef test_double():\n    assert double(5) == 10\n\n\ndef test_zero():\n    assert double(1) == 2\n"
RIGHT = "def double(x):\n    return x * 2\n"
CASE = "test_m.py::test_double"


def fence(code: str) -> str:
    return f"```python\n{code}```"


@pytest.fixture
def work(tmp_path):
    root = tmp_path / "a project"
    root.mkdir()
    (root / "m.py").write_text(CODE)
    (root / "test_m.py").write_text(TEST)
    return root


def start(
    work: Path,
    *words: str,
    answers: list[str] | None = None,
    environ: dict[str, str] | None = None,
    mounted: str = "",
    preset: str = "plain",
) -> subprocess.Popen:
    """The program, started; `answers` is what its scripted model will say.

    `mounted` (root only) is a shell line that changes how the workspace `$1` is mounted, for this process alone.
    """
    answers_file = work.parent / "answers.jsonl"
    answers_file.write_text("".join(json.dumps(answer) + "\n" for answer in answers or [fence(RIGHT)]))
    homes = {f"XDG_{name}_HOME": str(work.parent / name.lower()) for name in ("STATE", "CONFIG", "CACHE")}
    line = f'{mounted}; cd "$1" && shift && exec "$@"'
    before = ["unshare", "--mount", "sh", "-ec", line, "sh", str(work)] if mounted else []
    model = [] if "--model" in words else ["--model", f"scripted:{answers_file}"]
    return subprocess.Popen(
        [*before, sys.executable, "-m", "greenloop", "fix", *words, *model, "--preset", preset, "--json"],
        cwd=work,
        env={**os.environ, **homes, "PYTHONPATH": SERVER, "GREENLOOP_SANDBOX_KIND": "bubblewrap", **(environ or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(process: subprocess.Popen) -> tuple[int, list[dict], str]:
    try:
        out, err = process.communicate(timeout=200)
    except subprocess.TimeoutExpired:
        process.kill()
        pytest.fail(f"it does not end, or something it started keeps its output open (process {process.pid})")
    assert "Traceback" not in err
    return process.returncode, [json.loads(line) for line in out.splitlines()], err


def fix(work: Path, *words: str, **more) -> tuple[int, dict, str]:
    code, events, err = ended(start(work, *words, **more))
    assert [event["event"] for event in events].count("finished") == 1
    return code, events[-1], err


def until(process: subprocess.Popen, event: str) -> None:
    """Reads on until that event was told."""
    assert process.stdout is not None
    for line in process.stdout:
        if json.loads(line)["event"] == event:
            return
    pytest.fail(f"it ended without {event}: {process.stderr.read() if process.stderr else ''}")


# -- the way it should go ----------------------------------------------------------------------------------------


@pytest.mark.story("a red test becomes a verified edit")
def test_a_red_test_goes_green_and_is_written(work):
    code, finished, _err = fix(work, CASE, "--apply", answers=[fence("def double(x):\n    return 10\n"), fence(RIGHT)])
    assert (code, finished["solved"], finished["verified"], finished["applied"]) == (0, True, "verified", True)
    assert ((work / "m.py").read_text(), (work / "test_m.py").read_text()) == (RIGHT, TEST)


@pytest.mark.parametrize("kind", ["small", "capable"])
def test_a_recorded_run_is_the_same_again_elsewhere(work, tmp_path, kind):
    elsewhere = tmp_path / "elsewhere" / "folder"
    shutil.copytree(work, elsewhere)
    record = ["--record", str(tmp_path / "run.jsonl")]
    answers = [fence("def double(x):\n    return 10\n"), fence(RIGHT)]
    code, first, _err = fix(work, CASE, *record, "--set", f"model.kind={kind}", "--set", "regions=1", answers=answers)
    assert (code, first["verified"]) == (0, "verified")
    code, again, _err = fix(elsewhere, CASE, "--model", "replay:../../run.jsonl")
    assert (code, again["diff"], again["attempts"]) == (0, first["diff"], first["attempts"])
    assert again["usage"]["prompt_tokens"] == first["usage"]["prompt_tokens"]
    code, refused, _err = fix(work, CASE, *record)
    assert (code, "File exists" in refused["message"]) == (2, True)


LACKING = "def double(x):\n    return math.prod([x, 2])\n"


def test_an_answer_that_lacks_an_import_gets_it(work):
    code, finished, _err = fix(work, CASE, "--apply", answers=[fence(LACKING)])
    assert (code, finished["verified"], finished["attempts"]) == (0, "verified", 1)
    assert (work / "m.py").read_text() == "import math\n\n\n" + LACKING


def test_without_a_target_code_that_cannot_be_imported_is_mended_too(work):
    (work / "m.py").write_text("def double(x):\n    return (x * 2\n")
    code, finished, _err = fix(work, "--apply", answers=["never asked for"], preset="default")
    assert (code, finished["verified"]) == (0, "verified")
    assert (work / "m.py").read_text() == "def double(x):\n    return (x * 2)\n"


@pytest.mark.story("the command line finds the first red test")
def test_without_a_target_the_suite_is_asked(work):
    code, finished, _err = fix(work, "--apply")
    assert (code, finished["solved"]) == (0, True)
    assert (work / "m.py").read_text() == RIGHT


@pytest.mark.parametrize(
    "aside", ["", "    import warnings\n\n    warnings.warn('slow', stacklevel=2)\n"], ids=["plain", "warns"]
)
def test_a_function_of_a_new_module_is_proven_apart(work, aside):
    loop = "    for x, y in [(1, 3), (4, 12)]:\n        assert triple(x) == y\n"
    (work / "test_n.py").write_text("def test_triple():\n    from n import triple\n\n" + loop)
    answer = f"def triple(x):\n{aside}    return 3 * x\n"
    code, finished, _err = fix(work, "test_n.py::test_triple", "--apply", answers=[fence(answer)])
    assert (code, finished["verified"]) == (0, "verified"), finished["message"]
    assert finished["evidence"]["proofs"] == {"test_n.py::test_triple": ["apart"]}
    assert "3 * x" in (work / "n.py").read_text()


def test_what_is_green_already_asks_no_model(work):
    (work / "m.py").write_text(RIGHT)
    code, finished, _err = fix(work, CASE, "--model", "scripted:gone.jsonl")
    assert (code, finished["reason"], finished["attempts"]) == (0, "already-green", 0)


# -- bad input ---------------------------------------------------------------------------------------------------


def test_an_unknown_target_names_the_nearest(work):
    code, finished, err = fix(work, "test_m.py::test_duoble")
    assert (code, finished["solved"], finished["reason"]) == (2, False, "usage")
    assert "test_double" in err


def test_settings_that_cannot_be_read_warn_and_the_run_goes_on(work):
    config = work.parent / "config" / "greenloop"
    config.mkdir(parents=True)
    (config / "config.toml").write_text("this is = = no TOML")
    code, _finished, err = fix(work, CASE)
    assert code == 0
    assert "cannot be read" in err


def test_a_model_that_cannot_be_reached(work, unused_tcp_port):
    base = f"api.base=http://127.0.0.1:{unused_tcp_port}/v1"
    words = ("--model", "openai/x", "--set", base, "--set", "api.retries=0")
    code, finished, err = fix(work, CASE, *words, environ={"OPENAI_API_KEY": "sk-never-shown-123"})
    assert (code, finished["solved"], finished["reason"]) == (3, False, "model")
    assert finished["message"]
    assert "sk-never-shown" not in err + json.dumps(finished)


def test_a_sandbox_that_was_not_consented_to(work):
    code, finished, err = fix(work, CASE, "--sandbox", "none")
    assert (code, finished["reason"]) == (3, "cannot-verify")
    assert "consent" in err


def test_a_model_that_answers_rubbish_for_ever(work):
    code, finished, _err = fix(
        work, CASE, "--attempts", "3", "--apply", answers=["I would rather talk about the weather."] * 9
    )
    assert (code, finished["solved"]) == (1, False)
    assert finished["reason"] in ("attempts", "stalled")
    assert (work / "m.py").read_text() == CODE


def test_a_scripted_model_that_runs_out(work):
    code, finished, _err = fix(work, CASE, answers=[fence("def double(x):\n    return 11\n")])
    assert (code, finished["reason"], finished["attempts"]) == (3, "model", 1)


def test_an_endless_loop_is_an_attempt_like_others(work):
    forever = fence("def double(x):\n    while True:\n        pass\n")
    code, events, _err = ended(
        start(work, CASE, "--apply", "--set", "sandbox.seconds=3", answers=[forever, fence(RIGHT)])
    )
    assert code == 0
    assert [event["status"] for event in events if event["event"] == "tested"] == ["timeout", "passed"]


def test_a_suite_that_does_not_collect_for_a_missing_package(work):
    (work / "test_m.py").write_text("import no_such_package_anywhere\n" + TEST)
    code, finished, _err = fix(work, CASE, "--model", "scripted:gone.jsonl")
    assert (code, finished["solved"]) == (3, False)
    assert finished["reason"] in ("environment", "cannot-verify")
    assert "no_such_package_anywhere" in finished["message"]


def test_a_test_file_with_a_syntax_error(work):
    (work / "test_m.py").write_text(TEST + "\n\ndef broken(:\n")
    code, finished, _err = fix(work, CASE, "--model", "scripted:gone.jsonl")
    assert code in (1, 2, 3)
    assert finished["solved"] is False
    assert finished["message"]


def test_a_read_only_workspace(work):
    read_only = 'mount --bind "$1" "$1"; mount -o remount,ro,bind "$1"' if os.getuid() == 0 else ""
    work.chmod(0o555)  # which stops everybody but root
    try:
        code, finished, err = fix(work, CASE, "--apply", mounted=read_only)
    finally:
        work.chmod(0o755)
    assert (code, finished["solved"], finished["applied"]) == (1, True, False)
    assert "could not be written" in err
    assert (work / "m.py").read_text() == CODE


@pytest.mark.skipif(os.getuid() != 0, reason="only root may mount a small disk")
def test_a_full_disk(work):
    copy = work.parent / "copy"
    full = f'cp -a "$1" "{copy}"; mount -t tmpfs -o size=128k none "$1"; cp -a "{copy}/." "$1"'
    full += '; dd if=/dev/zero of="$1/filler" bs=1k 2>/dev/null || true'
    code, finished, err = fix(work, CASE, "--apply", mounted=full)
    assert (code, finished["solved"], finished["applied"]) == (1, True, False)
    assert "could not be written" in err


def test_a_file_changed_during_the_run_is_merged_or_left_alone(work):
    process = start(work, CASE, "--apply")
    until(process, "started")
    typed = "import os\n\n\n" + CODE
    (work / "m.py").write_text(typed)
    code, events, _err = ended(process)
    text = (work / "m.py").read_text()
    assert (code, text) in [(0, typed.replace("x + 1", "x * 2")), (1, typed)]
    assert events[-1]["applied"] is (code == 0)


def test_a_test_deleted_during_the_run_writes_nothing(work):
    process = start(work, CASE, "--apply")
    until(process, "started")
    (work / "test_m.py").unlink()
    code, events, _err = ended(process)
    assert code in (1, 3)
    assert events[-1]["applied"] is False
    assert (work / "m.py").read_text() == CODE


def family_of(process: subprocess.Popen) -> list[psutil.Process]:
    """Everything it started, as soon as there is something."""
    end = time.monotonic() + 60
    while time.monotonic() < end and process.poll() is None:
        if family := psutil.Process(process.pid).children(recursive=True):
            return family
    pytest.fail("it started nothing")


# -- ended from outside ------------------------------------------------------------------------------------------

SLOW = "import time\n\n\ndef double(x):\n    time.sleep(60)\n"


@pytest.mark.story("cancelling leaves nothing behind", only=("[2]",))
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_gives_control_back_and_leaves_nothing(work, number):
    process = start(work, CASE, "--set", "sandbox.seconds=60", answers=[fence(SLOW)])
    until(process, "checked")
    family = family_of(process)
    begin = time.monotonic()
    process.send_signal(number)
    code, events, _err = ended(process)
    seconds = time.monotonic() - begin
    assert (code, events[-1]["reason"], events[-1]["solved"]) == (130, "cancelled", False)
    assert seconds < 5  # one second on a quiet machine
    assert psutil.wait_procs(family, timeout=5)[1] == []


def test_killed_the_history_stays_readable_and_nothing_runs_on(work):
    process = start(work, CASE, "--set", "sandbox.seconds=60", answers=[fence(SLOW)])
    until(process, "checked")
    family = family_of(process)
    process.kill()
    process.communicate()
    assert psutil.wait_procs(family, timeout=10)[1] == []
    shown = subprocess.run(
        [sys.executable, "-m", "greenloop", "history", "show"],
        cwd=work,
        env={**os.environ, "XDG_STATE_HOME": str(work.parent / "state"), "PYTHONPATH": SERVER},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "interrupted" in shown.stdout
