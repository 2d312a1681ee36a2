"""Tests mirror the rooms of the product and of the laboratory: tests/unit/<room>/test_<module>[_<aspect>].py.

Those of the laboratory are in lab/tests; tests/process is like tests/unit.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("tests/unit", "tests/process", "lab/tests/unit", "lab/tests/process")

# Of each room as many modules have no unit tests of their own; a number may fall and must not rise.
# Suites of their own test `lsp`, `plugins/editor_models` and `plugins/test_runs` (tests/lsp), and `engine` (tests/sandbox,
# with the default parts).
OWN_SUITES = {"_version", "lsp", "engine", "plugins/agents/mcp", "plugins/editor_models", "plugins/test_runs"}
WITHOUT_TESTS = {
    "api": 12,
    "bench": 3,
    "cli": 6,
    "core": 16,
    "drafting": 12,
    "localize": 2,
    "plugins/agents": 2,
    "plugins/conversations": 3,
    "plugins/embedded": 2,
    "plugins/environment_faults": 7,
    "plugins/function_calls": 4,
    "plugins/improve": 3,
    "plugins/notebooks": 2,
    "plugins/other_inputs": 1,
    "plugins/past_runs": 1,
    "plugins/replay": 1,
    "plugins/setup": 2,
    "plugins/stated_examples": 2,
    "plugins/written_tests": 5,
    "project": 7,
    "sandbox": 40,
    "sandboxes": 1,
    "specs": 2,
    "verdict": 3,
    "wording": 2,
}


def room_of(module: Path) -> str:
    """The first folder; of a plugin also its name, and a folder of its own suite."""
    folders = module.parts[:-1] or module.parts
    if folders[0] != "plugins":
        return folders[0]
    inner = "/".join(folders[:3])
    return inner if inner in OWN_SUITES else "/".join(folders[:2])


def modules() -> list[Path]:
    """Every module, as room/…/name; those of the package for sandboxes are in the room `sandbox`."""
    products, walled = (
        (ROOT / "server" / "greenloop", ROOT / "lab" / "greenloop_lab"),
        ROOT / "sandbox" / "greenloop_sandbox",
    )
    files = [file.relative_to(product) for product in products for file in product.rglob("*.py")]
    files += ["sandbox" / file.relative_to(walled) for file in walled.rglob("*.py")]
    # tests/unit/project/test_settings.py reads the settings of all plugins.
    own = (file for file in files if file.stem != "settings" or "plugins" not in file.parts)
    return sorted(file.with_suffix("") for file in own if not file.stem.startswith("__"))


MODULES = modules()


BY_NAME: dict[str, list[Path]] = {}
for module in MODULES:
    BY_NAME.setdefault(module.name.lstrip("_"), []).append(module)


def modules_named_by(folder: Path, name: str) -> list[Path]:
    """The modules that a file of tests is named after: those of the longest name, in its folder or below it."""
    words = name.removeprefix("test_").split("_")
    for count in range(len(words), 0, -1):
        modules = BY_NAME.get("_".join(words[:count]), [])
        if named := [each for each in modules if folder == each.parent or (folder.parts and folder in each.parents)]:
            return named
    return []


def files(folder: str) -> list[Path]:
    return sorted(file.relative_to(ROOT / folder) for file in (ROOT / folder).rglob("test_*.py"))


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_file_of_tests_is_named_after_a_module_of_its_room(folder):
    assert [str(file) for file in files(folder) if not modules_named_by(file.parent, file.stem)] == []


def test_no_more_modules_of_a_room_are_without_unit_tests():
    have = {
        module for folder in FOLDERS for file in files(folder) for module in modules_named_by(file.parent, file.stem)
    }
    without = [module for module in MODULES if module not in have and room_of(module) not in OWN_SUITES]
    counts = Counter(map(room_of, without))
    rooms = {room for room, count in counts.items() if count > WITHOUT_TESTS.get(room, 0)}
    names = [str(module) for module in without if room_of(module) in rooms]
    assert names == [], {room: counts[room] for room in rooms}


def test_names_are_matched_as_a_whole():
    assert modules_named_by(Path("core"), "test_budget") == [Path("core/budget")]
    assert modules_named_by(Path("core"), "test_budgets") == []
    assert modules_named_by(Path("project"), "test_budget") == []
