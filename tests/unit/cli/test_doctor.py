"""`greenloop history`, `doctor`, `model`, `serve`, and the bare word."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace

import pytest

from greenloop.cli.main import main
from greenloop.core.errors import CannotVerifyError
from greenloop.engine.doctor import report as doctors
from greenloop.plugins.setup.isolation import ProbeResult
from greenloop.project.settings import Settings
from greenloop_sandbox import Probe

# -- doctor ------------------------------------------------------------------------------------------------------


def findings(capsys) -> dict[tuple[str, str], dict]:
    value = json.loads(capsys.readouterr().out)
    return {(row["part"], row["name"]): row for row in value["rows"]}


def test_a_machine_with_everything_is_0(machine, capsys):
    assert main(["doctor"]) == 0
    out = capsys.readouterr().out
    assert "A fix can run, with the model local." in out
    assert main(["doctor", "--json"]) == 0
    rows = findings(capsys)
    assert rows["sandbox", "docker"] | {"ok": False, "remedy": "start it"} == rows["sandbox", "docker"]
    assert rows["sandbox", "none"]["ok"] is None


@pytest.mark.parametrize(
    ("change", "lacking", "remedy"),
    [
        ({"walls": {"docker": Probe(name="docker", ok=False, detail="d", remedy="start it")}}, "sandbox", "start it"),
        ({"walls": {"docker": CannotVerifyError("d", remedy="start it")}}, "sandbox", "start it"),
        ({"walls": {"none": Probe(name="none", ok=True, detail="no wall")}}, "sandbox", ""),
        ({"environment": CannotVerifyError("no Python", remedy="make one")}, "interpreter", "make one"),
    ],
)
def test_what_is_missing_is_3_with_the_remedy(machine, capsys, change, lacking, remedy):
    machine.update(change)
    assert main(["doctor"]) == 3
    assert f"{lacking} missing" in capsys.readouterr().out
    assert main(["doctor", "--json"]) == 3
    value = json.loads(capsys.readouterr().out)
    assert value["ok"] is False
    assert remedy in [row["remedy"] for row in value["rows"] if row["part"] == lacking]


def test_without_a_model_a_fix_can_do_what_needs_none(machine, capsys):
    shutil.rmtree(machine["weights"])
    assert main(["doctor"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "Fixes that need no model can run: one-token changes, imports, upgrades. For others: Run `" in out
    assert main(["doctor", "--model", "local"]) == 3
    assert "model missing" in capsys.readouterr().out


def test_the_doctor_names_a_larger_model_that_fits(machine, capsys):
    shutil.rmtree(machine["weights"])
    assert main(["doctor", "--json"]) == 0
    row = findings(capsys)["model", "local"]
    assert row["detail"] == (
        "not downloaded yet (1.1 GB); this machine can also run qwen3-coder-30b (18.6 GB): "
        "greenloop model pull qwen3-coder-30b"
    )
    assert row["remedy"] == "greenloop model pull"


@pytest.mark.parametrize(
    ("weights", "remedy"), [(True, ""), (False, "greenloop model pull qwen2.5-coder-7b")], ids=["there", "absent"]
)
def test_the_embedded_model_that_is_named_is_the_one_that_counts(machine, capsys, weights, remedy):
    if not weights:
        shutil.rmtree(machine["weights"])
    assert main(["doctor", "--model", "local/qwen2.5-coder-7b", "--json"]) == (0 if weights else 3)
    row = findings(capsys)["model", "local/qwen2.5-coder-7b"]
    assert (row["ok"], row["remedy"]) == (weights, remedy)


def test_an_embedded_model_that_does_not_exist_is_told(machine, capsys):
    assert main(["doctor", "--model", "local/none", "--json"]) == 3
    assert findings(capsys)["model", "local/none"]["detail"] == "There is no embedded model named 'none'."


def test_layers_for_a_gpu_that_is_not_there_are_told(machine, capsys):
    assert main(["doctor", "--json"]) == 0
    assert ("setting", "embedded.gpu") not in findings(capsys)
    assert main(["doctor", "--set", "embedded.gpu=9", "--json"]) == 0
    row = findings(capsys)["setting", "embedded.gpu"]
    assert row["detail"].startswith("9 has no effect")
    assert row["ok"] is None


def test_without_pytest_the_interpreter_borrows_greenloops_own(machine, capsys):
    machine["environment"] = replace(machine["environment"], has_pytest=False)
    assert main(["doctor", "--json"]) == 0
    (row,) = (row for (part, _name), row in findings(capsys).items() if part == "interpreter")
    assert "without pytest: greenloop's own" in row["detail"]


def test_missing_pytest_on_a_python_too_old_to_borrow_it_names_the_interpreter(machine, capsys):
    machine["environment"] = replace(machine["environment"], has_pytest=False, version=(3, 9))
    assert main(["doctor", "--json"]) == 3
    assert "/usr/python3 -m pip install pytest" in capsys.readouterr().out


def test_a_sandbox_asked_for_by_name_is_the_only_one_that_counts(machine, capsys):
    assert main(["doctor", "--sandbox", "docker", "--json"]) == 3
    assert findings(capsys)["sandbox", "bubblewrap"]["ok"] is None


@pytest.mark.parametrize(
    ("name", "ollama", "environ", "ok"),
    [
        ("local", [], {}, True),
        ("scripted:there.jsonl", [], {}, True),
        ("scripted:gone.jsonl", [], {}, False),
        ("ollama/a", [], {}, False),
        ("ollama/a", ["b:1b"], {}, False),
        ("ollama/b:1b", ["b:1b"], {}, True),
        ("ollama/b", ["b:latest"], {}, True),
        ("openai/gpt", [], {}, False),
        ("openai/gpt", [], {"OPENAI_API_KEY": "sk-never-shown"}, True),
    ],
)
def test_the_configured_model_is_looked_at_and_not_asked(
    machine, project, monkeypatch, capsys, name, ollama, environ, ok
):
    (project / "there.jsonl").write_text("")
    machine["ollama"] = ollama
    for key, value in environ.items():
        monkeypatch.setenv(key, value)
    assert main(["doctor", "--model", name, "--json"]) == (0 if ok else 3)
    assert "sk-never-shown" not in capsys.readouterr().out


def test_a_server_of_ones_own_is_reached_or_not(machine, capsys, unused_tcp_port):
    base = f"api.base=http://127.0.0.1:{unused_tcp_port}/v1"
    assert main(["doctor", "--model", "openai/x", "--set", base, "--json"]) == 3
    assert "does not answer" in capsys.readouterr().out


def test_keys_are_offered_by_name_and_do_not_count(machine, monkeypatch, capsys):
    shutil.rmtree(machine["weights"])
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-never-shown")
    assert main(["doctor", "--json"]) == 0
    out = capsys.readouterr().out
    assert "ANTHROPIC_API_KEY" in out
    assert "sk-never-shown" not in out


def test_an_unwritable_history_is_told_and_a_fix_can_run(machine, tmp_path, monkeypatch, capsys):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    assert main(["doctor", "--json"]) == 0
    assert findings(capsys)["history", ""]["ok"] is False


def test_in_the_home_folder_the_rest_is_still_examined(machine, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path / "home")
    monkeypatch.setenv("COLUMNS", "300")  # how long the path is must not matter
    assert main(["doctor", "--quick"]) == 3
    out = capsys.readouterr().out
    assert "too broad" in out.replace("\n", " ")
    assert "workspace missing" in out


KEPT = ProbeResult(promise="network off", held=True, probed="connect to 1.1.1.1:53: refused")
LOOSE = ProbeResult(promise="memory bounded", held=True, probed="refused after 96", best_effort=True)
BROKEN = ProbeResult(promise="never root", held=False, probed="setuid(0): it works")


@pytest.fixture
def promise(monkeypatch):
    """`promise(finding, ...)`: what the programs behind every wall found."""

    def put(*found: ProbeResult) -> None:
        async def examine(_sandbox, _probe, _environment):
            return list(found)

        monkeypatch.setattr("greenloop.plugins.setup.isolation.run_probes", examine)

    return put


def test_each_promise_is_a_row_with_what_was_tried(machine, promise, capsys):
    promise(KEPT, LOOSE)
    assert main(["doctor", "--json"]) == 0
    rows = findings(capsys)
    kept = rows["promise", "bubblewrap: network off"]
    assert (kept["ok"], kept["status"], kept["detail"]) == (True, "held", "connect to 1.1.1.1:53: refused")
    assert rows["promise", "bubblewrap: memory bounded"]["status"] == "best effort"
    assert not any(name.startswith(("docker", "none")) for part, name in rows if part == "promise")
    assert main(["doctor"]) == 0
    assert "best effort" in capsys.readouterr().out


def test_a_wall_that_does_not_keep_a_promise_does_not_count(machine, promise, capsys):
    promise(KEPT, BROKEN)
    assert main(["doctor", "--json"]) == 3
    rows = findings(capsys)
    assert rows["promise", "bubblewrap: never root"]["ok"] is False
    assert rows["promise", "bubblewrap: never root"]["remedy"]
    assert rows["sandbox", "bubblewrap"]["ok"] is False
    assert "not held: never root" in rows["sandbox", "bubblewrap"]["detail"]


def test_in_a_hurry_no_promise_is_tried(machine, promise, capsys):
    promise(BROKEN)
    assert main(["doctor", "--quick", "--json"]) == 0
    assert not [part for part, _name in findings(capsys) if part == "promise"]


def test_what_could_not_be_tried_says_why(machine, capsys):
    machine["walls"]["docker"] = Probe(name="docker", ok=True, detail="Docker 29; its image is made when first used")
    assert main(["doctor", "--json"]) == 0
    rows = findings(capsys)
    assert rows["promise", "bubblewrap"]["detail"] == "it does not open today"
    assert (rows["promise", "bubblewrap"]["ok"], rows["promise", "bubblewrap"]["status"]) == (None, "not tried")
    assert "image is not here yet" in rows["promise", "docker"]["detail"]


LONG = "/home/somebody/projects/with/a/very/long/path/to/python3"


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("words", [["doctor"], ["doctor", "--all"], []], ids=["doctor", "all", "bare"])
def test_no_line_is_wider_than_the_terminal_and_no_path_is_broken(machine, promise, monkeypatch, capsys, width, words):
    monkeypatch.setenv("COLUMNS", str(width))
    promise(*[replace(KEPT, promise=f"promise {number}") for number in range(30)])
    machine["walls"]["bubblewrap"] = Probe(name="bubblewrap", ok=True, detail=LONG * 2)
    machine["walls"]["docker"] = Probe(name="docker", ok=False, detail="no engine", remedy=f"start it with {LONG}")
    shutil.rmtree(machine["weights"])
    main(words)
    lines = capsys.readouterr().out.splitlines()
    assert all(len(line) <= width or line.strip().removeprefix("-> ") in LONG for line in lines)
    if words != ["doctor", "--all"]:
        assert len(lines) < 25
        assert not any("docker" in line for line in lines)  # bubblewrap works
    else:
        assert sum("promise" in line for line in lines) >= 30
        assert any(line.strip().endswith(LONG) for line in lines)  # to be copied


@pytest.mark.parametrize(
    ("name", "editor", "ok"),
    [
        ("editor", None, False),
        ("editor", doctors.EditorAbilities(model=True), True),
        ("openai/x", None, False),
        ("openai/x", doctors.EditorAbilities(keys=True), True),
    ],
)
async def test_what_the_editor_has_counts_for_it_alone(machine, project, name, editor, ok):
    rows = await doctors.examine(project, Settings(model=name), editor=editor)
    (row,) = (row for row in rows if (row.part, row.name) == ("model", name))
    assert row.ok is ok
    assert bool(row.remedy) is not ok


def test_the_bare_word_is_the_doctor_and_what_to_do_next(machine, tmp_path, monkeypatch, capsys):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "hx").write_text("#!/bin/sh\n")
    (tmp_path / "bin" / "hx").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert main([]) == 0
    out = capsys.readouterr().out
    assert "greenloop fix" in out
    assert "greenloop setup helix --write" in out
    shutil.rmtree(machine["weights"])
    assert main([]) == 0
    assert "greenloop model pull" in capsys.readouterr().out
