"""A type error as a target: the project's own mypy in the sandbox, tests staying as they are."""

from __future__ import annotations

import sys

import pytest

import shop_run
from greenloop.core.errors import CannotVerifyError, UsageError
from greenloop.core.records.outcome import Verified
from greenloop.wording.notes import list_notes
from shop_run import block, texts, turns

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(300)]

CORE = (
    "RATES: dict[str, int] = {'pen': 19}\n\n\n"
    "def rate(kind: str) -> int:\n    return RATES.get(kind)\n\n\n"
    "def label(kind: str) -> str:\n    return 'a ' + kind\n"
)
FILES = {
    "pyproject.toml": "[tool.mypy]\nstrict = true\n",
    "shop.py": CORE,
    "test_shop.py": "from shop import label, rate\n\n\ndef test_rate() -> None:\n    assert rate('pen') == 19\n\n\n"
    "def test_label() -> None:\n    assert label('pen') == 'a pen'\n",
}
RIGHT = block("shop.py", "    return RATES.get(kind)", "    return RATES[kind]")


@pytest.fixture
def play(tmp_path, monkeypatch, lay):
    """`play(target, *answers)`: the outcome with a capable model, in the environment that runs these tests."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))

    async def run(target, *answers, files=FILES, **options):
        root = lay(tmp_path / "w", files)
        more = {"interpreter": sys.executable, "sandbox.seconds": 60, **options}
        return (await shop_run.play(root, *answers, target=target, options=more))[0]

    return run


async def test_a_type_error_is_fixed(play):
    outcome = await play("types:", RIGHT)
    assert outcome.verified is Verified.VERIFIED, outcome.message
    assert outcome.after == {"shop.py": CORE.replace("RATES.get(kind)", "RATES[kind]")}
    report = texts(outcome, turns(outcome)[0].number)[1]
    assert 'Incompatible return value type (got "int | None", expected "int")' in report
    assert "def rate(kind" in report


async def test_silencing_is_named_and_refused(play):
    cheat = block("shop.py", "    return RATES.get(kind)", "    return RATES.get(kind)  # type: ignore")
    outcome = await play("types:shop.py:5", cheat, RIGHT)
    assert outcome.after == {"shop.py": CORE.replace("RATES.get(kind)", "RATES[kind]")}
    assert turns(outcome)[0].finding.message == "shop.py silences the type checker: a comment `# type: ignore`."


@pytest.mark.parametrize(("mode", "count"), [("report", 1), ("require", 2)])
async def test_a_result_with_a_new_type_error_is_named_or_refused(play, mode, count):
    files = {**FILES, "shop.py": CORE.replace("RATES.get(kind)", "RATES[kind] + 1")}
    wrong = block("shop.py", "    return RATES[kind] + 1", "    return RATES.get(kind)")
    right = block("shop.py", "    return RATES.get(kind)", "    return RATES[kind]")
    outcome = await play("test_shop.py::test_rate", wrong, right, files=files, preset="default", **{"spec.types": mode})
    assert outcome.solved, outcome.message
    assert len(turns(outcome)) == count
    notes = list_notes(outcome)
    assert any("mypy reports a new error: shop.py:5: Incompatible return value" in note for note in notes) is (
        count == 1
    )


async def test_a_new_error_elsewhere_is_no_fix(play):
    files = {**FILES, "shop.py": CORE + "\n\ndef twice(kind: str) -> int:\n    return 2 * rate(kind)\n"}
    wider = block("shop.py", "def rate(kind: str) -> int:", "def rate(kind: str, default: int) -> int:")
    wider += block("shop.py", "    return RATES.get(kind)", "    return RATES.get(kind, default)")
    outcome = await play("types:shop.py:5", wider, RIGHT, files=files)
    assert len(turns(outcome)) == 2
    assert "Missing positional argument" in str(turns(outcome)[0].verdict.cases)
    assert outcome.solved, outcome.message


async def test_without_a_test_that_runs_the_code_it_is_verified_in_part(play):
    outcome = await play("types:shop.py", RIGHT, files={**FILES, "test_shop.py": ""})
    assert outcome.verified is Verified.PARTIALLY, outcome.message
    assert "no test runs the changed code" in outcome.message


@pytest.mark.parametrize(
    ("files", "target", "error", "told"),
    [
        ({}, "types:shop.py:8", UsageError, "mypy reports no type error at shop.py:8"),
        (
            {"shop.py": "x: int = 1\n", "test_shop.py": ""},
            "types:",
            UsageError,
            "mypy reports no type error in this project",
        ),
        ({"pyproject.toml": ""}, "types:shop.py", UsageError, "configures no type checker"),
        (
            {"pyproject.toml": "[tool.pyright]\n"},
            "types:",
            CannotVerifyError,
            "pyproject.toml configures pyright, which",
        ),
        (
            {"pyproject.toml": "[tool.mypy]\nplugins = ['./crash.py']\n", "crash.py": "def plugin(version): 1 / 0\n"},
            "types:",
            CannotVerifyError,
            "mypy ended with status 2: Error calling the plugin",
        ),
        ({}, "types:nothing.py", UsageError, "There is no nothing.py"),
    ],
)
async def test_one_sentence_with_the_remedy(play, files, target, error, told):
    with pytest.raises(error, match=told) as raised:
        await play(target, RIGHT, files={**FILES, **files})
    assert raised.value.remedy


async def test_where_tests_pass_the_type_error_is_named(play):
    outcome = await play("test_shop.py", RIGHT)
    assert outcome.after == {}
    assert (
        "test_shop.py already passes; nothing was changed. mypy reports a type error in shop.py:5: " in outcome.message
    )
    assert "To fix it: `greenloop fix --types shop.py:5`." in outcome.message
