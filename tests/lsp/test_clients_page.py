"""The table of clients in docs/editors.md says what the tests saw, of every client whose capabilities are kept."""

import json
import re
import subprocess
import sys
from pathlib import Path

from .clients import CLAIMS, CLIENTS, FEATURES

HOUSE = Path(__file__).parents[2]


def test_the_page_is_up_to_date():
    command = [sys.executable, "scripts/clients_table.py", "--check"]
    assert subprocess.run(command, cwd=HOUSE, check=False).returncode == 0, "run scripts/clients_table.py"


def test_it_has_every_client_and_every_feature():
    claims = json.loads(CLAIMS.read_text(encoding="utf-8"))
    assert list(claims) == [manners.title for manners in CLIENTS.values()]
    assert {tuple(seen) for seen in claims.values()} == {FEATURES}
    page = (HOUSE / "docs/editors.md").read_text(encoding="utf-8")
    (table,) = re.findall(r"^\| client \|.*\n(?:\|.*\n)+", page, re.MULTILINE)
    for row, (title, seen) in zip(table.splitlines()[2:], claims.items(), strict=True):
        assert row == "| " + " | ".join([title, *seen.values()]) + " |"


def test_every_captured_client_has_a_story():
    captured = {path.stem for path in (HOUSE / "tests/lsp/capabilities").glob("*.json")}
    assert captured == set(CLIENTS)


def test_the_real_editors_are_those_that_are_driven():
    driven = re.findall(
        r'^    Kind\("([^"]+)"', (HOUSE / "tests/editors/conftest.py").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert sorted(driven) == sorted(manners.real for manners in CLIENTS.values() if manners.real)
