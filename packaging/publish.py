#!/usr/bin/env python3
"""Keeps what packages say of greenloop in one place, and names what is missing before a release.

    packaging/publish.py                 what is missing; the exit code is 1 if anything is
    packaging/publish.py --write         writes the address of pyproject.toml and the version everywhere
    packaging/publish.py --tag v1.2.3    as without, and the tag has to be the version everywhere

The address is in `[project.urls]` of pyproject.toml, the version in vscode-client/package.json: a package's own comes
from the tag. Standard library alone, so that a release needs nothing to run it.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PLACEHOLDER = "OWNER"
# The address, and the name that the registry of MCP servers makes of it.
OWNER = re.compile(r"(?<=github\.com/)[\w-]+(?=/greenloop\b)|(?<=io\.github\.)[\w-]+(?=/greenloop\b)")
NUMBER = r"[\w.+-]+"
# Where the version is repeated: the text around it.
VERSIONS = {
    "CITATION.cff": [r"(?<=^version: )" + NUMBER],
    "packaging/acp-registry/agent.json": [r'(?<="version": ")' + NUMBER, r"(?<=greenloop\[acp\]==)" + NUMBER],
    "packaging/conda/recipe.yaml": [r'(?<=^  version: ")' + NUMBER],
    "packaging/mason/package.yaml": [r"(?<=pkg:pypi/greenloop@)" + NUMBER],
    "packaging/server.json": [r'(?<="version": ")' + NUMBER],
    "packaging/zed/Cargo.toml": [r'(?<=^version = ")' + NUMBER],
    "packaging/zed/extension.toml": [r'(?<=^version = ")' + NUMBER],
    "pyproject.toml": [r'(?<=^fallback-version = ")[\w.+-]+(?=\.dev0")'],
    "server/greenloop/__init__.py": [r'(?<=^    __version__ = ")[\w.+-]+(?=\.dev0")'],
}


def read_owner(root: Path) -> str:
    """The name in the address of pyproject.toml."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return str(re.fullmatch(r"https://github\.com/([\w-]+)/greenloop", project["urls"]["Repository"])[1])  # type: ignore[index]


def read_version(root: Path) -> str:
    """The version of the next release, which the extension has."""
    return str(json.loads((root / "vscode-client/package.json").read_text(encoding="utf-8"))["version"])


def rewritten(root: Path) -> Iterator[tuple[Path, str, str]]:
    """Each file that repeats address or version, with its text and the text that it should have."""
    owner, version = read_owner(root), read_version(root)
    names = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, text=True, check=True).stdout
    for name in sorted({*names.rstrip("\0").split("\0"), *VERSIONS}):
        path = root / name
        try:
            text = path.read_text(encoding="utf-8")
        except (UnicodeDecodeError, FileNotFoundError, IsADirectoryError):
            continue
        wanted = OWNER.sub(owner, text)
        for pattern in VERSIONS.get(name, []):
            wanted, count = re.subn(pattern, version, wanted, flags=re.MULTILINE)
            if not count:
                raise SystemExit(f"{name} does not say the version where packaging/publish.py expects it: {pattern}")
        yield path, text, wanted


def missing(root: Path, tag: str) -> Iterator[str]:
    """A line for each thing that a person has to do before a release."""
    version = read_version(root)
    if read_owner(root) == PLACEHOLDER:
        yield "pyproject.toml: [project.urls] has the placeholder OWNER; write the address, then run this with --write"
    for path, text, wanted in rewritten(root):
        if text != wanted:
            yield f"{path.relative_to(root)}: address or version differ; run this with --write"
    section = re.search(r"^## ([^\s,]+)", (root / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    if section is None or section[1] != version:
        yield f"CHANGELOG.md: its first section is {section[1] if section else 'missing'}, the extension has {version}"
    if tag and tag != f"v{version}":
        yield f"the tag {tag} is not v{version}, which the extension has"


def later(root: Path) -> Iterator[str]:
    """A line for each thing that can only be done once the package is on PyPI."""
    if "sha256: SHA256" in (root / "packaging/conda/recipe.yaml").read_text(encoding="utf-8"):
        yield "packaging/conda/recipe.yaml: the sum of the file on PyPI"
    yield "packaging/README.md says where each file goes"


def main() -> int:
    """The exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--tag", default="", metavar="TAG")
    arguments = parser.parse_args()
    if arguments.write:
        for path, text, wanted in rewritten(ROOT):
            if text != wanted:
                path.write_text(wanted, encoding="utf-8")
                print(f"written: {path.relative_to(ROOT)}")
    lines = list(missing(ROOT, arguments.tag))
    for line in lines:
        print(f"missing: {line}")
    for line in later(ROOT):
        print(f"after the release: {line}")
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main())
