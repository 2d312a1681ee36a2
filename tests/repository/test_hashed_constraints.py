"""The packages that the VS Code extension installs are those that this repository is tested with."""

import re
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]


def pins(path: Path) -> dict[str, str]:
    """Version by name, of each line `name==version`."""
    lines = re.findall(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {canonicalize_name(name): version for name, version in lines}


def test_versions_are_those_of_constraints() -> None:
    tested, carried = pins(ROOT / "constraints.txt"), pins(ROOT / "vscode-client" / "constraints.txt")
    # What only other platforms need is not among the versions that are tested here.
    shared = tested.keys() & carried.keys()
    assert len(shared) > 25
    assert "litellm" not in carried, "it belongs to the extra `providers`, which the extension does not install"
    assert {name: carried[name] for name in shared} == {name: tested[name] for name in shared}


def test_every_dependency_is_carried_and_fits() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    carried = pins(ROOT / "vscode-client" / "constraints.txt")
    extras = project["optional-dependencies"]
    wanted = [Requirement(line) for line in [*project["dependencies"], *extras["local"], *extras["mcp"]]]
    for requirement in wanted:
        assert requirement.specifier.contains(carried[canonicalize_name(requirement.name)]), requirement


def test_every_pin_has_a_hash() -> None:
    text = (ROOT / "vscode-client" / "constraints.txt").read_text(encoding="utf-8")
    blocks = re.split(r"^(?=[A-Za-z0-9])", text, flags=re.MULTILINE)[1:]
    assert len(blocks) == len(pins(ROOT / "vscode-client" / "constraints.txt"))
    for block in blocks:
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", block), block.splitlines()[0]
