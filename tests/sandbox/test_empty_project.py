"""A project that has tests alone: the modules that they name are written, test file by test file."""

from __future__ import annotations

import json

import pytest

from greenloop.cli.main import main

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(240)]

ITEM = "class Item:\n    def __init__(self, name, price):\n        self.name = name\n        self.price = price\n"
CART = (
    "class Cart:\n    def __init__(self):\n        self.entries = []\n\n    def add(self, item, count):\n"
    "        self.entries.append((item, count))\n\n    def total(self):\n"
    "        return sum(item.price * count for item, count in self.entries)\n"
)
REPORT = 'def lines(cart):\n    return [*(item.name for item, _ in cart.entries), f"total: {cart.total()}"]\n'
IMPORTS = "from shop.cart import Cart\nfrom shop.item import Item\n"
USE = "    cart = Cart()\n    cart.add(Item('pen', 3), 2)\n"
TESTS = {  # the first by name needs what the second one lets be written
    "tests/test_a_report.py": f"{IMPORTS}from shop import report\n\n\ndef test_lines():\n{USE}"
    "    assert report.lines(cart) == ['pen', 'total: 6']\n",
    "tests/test_shop.py": f"{IMPORTS}\n\ndef test_total():\n{USE}    assert cart.total() == 6\n\n\n"
    "def test_empty():\n    assert Cart().total() == 0\n",
}


@pytest.fixture
def fix(tmp_path, monkeypatch, lay, capsys):
    """`fix(answers, *words)`: the exit code, and the lines of the JSON."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    root = lay(tmp_path / "w", TESTS)
    monkeypatch.chdir(root)

    def run(answers, *words):
        script = tmp_path / "answers.jsonl"
        script.write_text("".join(json.dumps(f"```python\n{each}```") + "\n" for each in answers))
        code = main(["fix", *words, "--model", f"scripted:{script}", "--set", "sandbox.kind=bubblewrap", "--json"])
        return code, [json.loads(row) for row in capsys.readouterr().out.splitlines()]

    run.root = root
    return run


def test_all_modules_are_written_in_the_order_of_the_imports(fix):
    code, events = fix([f"{ITEM}\n\n{CART}", REPORT], "tests/", "--apply")
    ends = [each for each in events if each["event"] == "finished"]
    assert (code, [each["verified"] for each in ends]) == (0, ["verified", "verified"])
    started = [each["target"] for each in events if each["event"] == "started"]
    assert started == ["tests/test_shop.py", "tests/test_a_report.py"]
    assert {path.name: path.read_text() for path in (fix.root / "shop").glob("*.py")} == {
        "item.py": ITEM,
        "cart.py": CART,
        "report.py": REPORT,
    }
    code, events = fix([], "tests/")
    assert (code, [each["reason"] for each in events if each["event"] == "finished"]) == (0, ["already-green"] * 2)


def test_an_answer_about_one_of_several_modules_is_a_step(fix):
    code, events = fix([ITEM, CART], "tests/test_shop.py")
    attempts = [each for each in events if each["event"] == "tested"]
    assert code == 0, events[-1]
    assert "No module named" not in json.dumps(attempts)


def test_without_a_target_the_folder_is_named(fix):
    code, events = fix([])
    assert code == 3
    assert "To have it written for its tests: `greenloop fix tests/`." in events[-1]["remedy"]


def test_a_folder_without_tests_is_refused(fix):
    (fix.root / "docs").mkdir()
    code, events = fix([], "docs")
    assert (code, events[-1]["message"]) == (2, "docs has no test files.")
