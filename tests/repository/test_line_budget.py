"""Each package has a budget of lines, which may only fall: whoever adds something finds what it makes unnecessary."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PLUGINS = "server/greenloop/plugins"
# The goals are 42,000 for the core, 12,000 for the sandbox and none for the laboratory, whose lines cost users nothing.
# Type checks, data files as suspects, services for tests and proofs of coroutines raised both by 2,900 lines at once,
# and 340 in the sandbox close what a test runs, compares or subtracts of the code in the process that judges; services
# from images, and honest containers, raised it by 170. Cases of `load_tests`, and rules
# against a hundred forgeries of one attacker, took what had been saved.
LINES = {"server/greenloop": 41_410, PLUGINS: 29_880, "sandbox/greenloop_sandbox": 16_840}
MOST_OF_A_PLUGIN = 3_000
# Lines of tests/ that patch an attribute, which may only fall: what a function needs, it gets as an argument.
PATCHES = 54
STEP = 500


def count(folder: Path) -> int:
    files = [file for file in folder.rglob("*.py") if file.name != "_version.py"]  # an installation writes it
    return sum(len(file.read_bytes().splitlines()) for file in files)


@pytest.mark.parametrize("package", LINES)
def test_a_package_stays_within_its_budget(package):
    lines = count(ROOT / package) - (count(ROOT / PLUGINS) if package == "server/greenloop" else 0)
    assert lines <= LINES[package], "delete what the change makes unnecessary"
    assert lines > LINES[package] - STEP, "lower the budget"


def test_few_attributes_are_patched():
    texts = (file.read_text(encoding="utf-8") for file in (ROOT / "tests").rglob("*.py"))
    name = "monkeypatch" + ".setattr"  # not a use of it
    assert sum(name in line for text in texts for line in text.splitlines()) <= PATCHES


@pytest.mark.parametrize("plugin", sorted(path.name for path in (ROOT / PLUGINS).iterdir() if path.is_dir()))
def test_a_plugin_is_small(plugin):
    assert count(ROOT / PLUGINS / plugin) <= MOST_OF_A_PLUGIN
