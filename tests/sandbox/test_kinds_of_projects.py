"""Projects that are not one folder with tests in it: each is refined as its own tools would run it."""

from __future__ import annotations

import pytest

from greenloop.core.records.outcome import Verified
from greenloop.engine import refine
from greenloop.project import configuration

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(120)]

WRONG, RIGHT = "def double(n):\n    return n + 2\n", "def double(n):\n    return n * 2\n"
TEST = "from m import double\n\n\ndef test_it():\n    assert double(4) == 8\n    assert double(-1) == -2\n"
# name: files, the target, the file that changes
KINDS = {
    "examples of a text file": (
        {
            "pytest.ini": "[pytest]\naddopts = --doctest-glob=README.md\n",
            "README.md": "# m\n\n```\n>>> from m import double\n>>> double(4), double(-1)\n(8, -2)\n\n```\n",
            "m.py": WRONG,
        },
        "README.md",
        "m.py",
    ),
    "sources in a folder that pytest is told of": (
        {"pytest.ini": "[pytest]\npythonpath = code\n", "code/m.py": WRONG, "tests/test_m.py": TEST},
        "tests/test_m.py",
        "code/m.py",
    ),
}


@pytest.fixture
def refine_project(tmp_path, monkeypatch, lay):
    """Refines a target of these files, without a model."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))

    async def run(files, target, link=None):
        root = lay(tmp_path / "w", files)
        if link:
            (root / link[0]).symlink_to(link[1])
        settings, _ = configuration.load(root, command_line={"model": "none", "sandbox.kind": "bubblewrap"})
        request = refine.RefineRequest(root=root, target=target)
        return await refine.refine(request, settings=settings, emit=lambda _event: None)

    return run


@pytest.mark.parametrize("name", KINDS)
async def test_the_function_is_found_and_the_result_verified(name, refine_project):
    files, target, changed = KINDS[name]
    outcome = await refine_project(files, target)
    assert outcome.verified is Verified.VERIFIED, outcome.message
    assert outcome.after == {changed: RIGHT}


async def test_code_behind_a_link(refine_project):
    outcome = await refine_project({"real/m.py": WRONG, "test_m.py": TEST}, "test_m.py", link=("m.py", "real/m.py"))
    assert outcome.verified is Verified.VERIFIED, outcome.message
    assert outcome.after == {"m.py": RIGHT}


async def test_sources_that_are_not_installed_are_not_written_again(refine_project):
    files = {
        "packages/api/pyproject.toml": "[project]\nname = 'api'\nversion = '1'\n",
        "packages/api/src/api/__init__.py": "",
        "packages/api/src/api/m.py": WRONG,
        "packages/api/tests/test_m.py": TEST.replace("from m", "from api.m"),
    }
    outcome = await refine_project(files, "packages/api/tests/test_m.py")
    assert not outcome.solved
    assert "'api' is in packages/api/src, from which the tests do not import" in outcome.message
