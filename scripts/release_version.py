#!/usr/bin/env python3
"""Checks that a release has one version: release_version.py TAG

The tag `v1.2.3` must be the version of the package and of the extension, and the changelog must have a section of it.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def versions(root: Path) -> dict[str, str]:
    """The version that each part of the repository says it has."""
    package = re.search(r'^__version__ = "(.+)"$', (root / "server/greenloop/__init__.py").read_text(), re.MULTILINE)
    section = re.search(r"^## ([^\s,]+)", (root / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    return {
        "the package": package[1] if package else "none",
        "the extension": json.loads((root / "vscode-client/package.json").read_text())["version"],
        "the changelog": section[1] if section else "none",
    }


def main(tag: str) -> str:
    """What differs, or an empty text."""
    wanted = tag.removeprefix("v")
    wrong = [f"{part} has {version}" for part, version in versions(ROOT).items() if version != wanted]
    return f"The tag {tag} is not the version everywhere: {', '.join(wrong)}." if wrong else ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]) or 0)
