"""Faults that are in no function: data, SQL, templates and configuration that the code of a failing test reads."""

from __future__ import annotations

import pytest

import shop_run
from greenloop.core.records.outcome import Verified
from greenloop.engine import refine
from greenloop.project import configuration
from shop_run import block, texts, turns

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(120)]

READS = "from pathlib import Path\n\nHERE = Path(__file__).parent\n"
RATES = {
    "shop/__init__.py": "",
    "shop/rates.py": f'import json\n{READS}\n\ndef rate(kind):\n    return json.loads((HERE / "rates.json").read_text())[kind]\n',
    "shop/rates.json": '{\n  "pen": 19,\n  "ink": 70\n}\n',
    "test_rates.py": (
        'from shop.rates import rate\n\n\ndef test_ink():\n    assert rate("ink") == 7\n\n\n'
        'def test_pen():\n    assert rate("pen") == 19\n'
    ),
}
SETTINGS = {
    "app/settings.py": f"import configparser\n{READS}\n\nclass Settings:\n    def port(self):\n"
    '        parser = configparser.ConfigParser()\n        parser.read(HERE / "app.ini")\n'
    '        return parser.getint("server", "port")\n',
    "app/app.ini": "[server]\nhost = localhost\nport = 8008\n",
    "test_settings.py": "from app.settings import Settings\n\n\ndef test_port():\n    assert Settings().port() == 8080\n",
}
LIMITS = {
    "limits.py": f'import tomllib\n{READS}\nLIMITS = tomllib.loads((HERE / "limits.toml").read_text())\n\n\n'
    'def most(kind):\n    return LIMITS["most"][kind]\n',
    "limits.toml": "[most]\nitems = 120\nnotes = 5\n",
    "test_limits.py": 'from limits import most\n\n\ndef test_items():\n    assert most("items") == 100\n',
}
QUERY = {
    "store.py": f'import sqlite3\n{READS}\n\ndef expensive(prices):\n    connection = sqlite3.connect(":memory:")\n'
    '    connection.execute("create table items (price integer)")\n'
    '    connection.executemany("insert into items values (?)", [(price,) for price in prices])\n'
    '    return [row[0] for row in connection.execute((HERE / "expensive.sql").read_text())]\n',
    "expensive.sql": "select price from items\nwhere price > 10\norder by price\n",
    "test_store.py": "from store import expensive\n\n\ndef test_the_limit_counts():\n    assert expensive([10, 3, 12]) == [10, 12]\n",
}
LETTER = {
    "letter.py": f"from string import Template\n{READS}\n\ndef letter(name):\n"
    '    return Template((HERE / "letter.txt").read_text()).substitute(name=name)\n',
    "letter.txt": "Helo $name!\n",
    "test_letter.py": 'from letter import letter\n\n\ndef test_letter():\n    assert letter("Ann") == "Hello Ann!\\n"\n',
}
# name: files, the target, the file that changes, its new text
WITHOUT_A_MODEL = {
    "a value of a JSON file": (RATES, "test_rates.py::test_ink", "shop/rates.json", '{\n  "pen": 19,\n  "ink": 7\n}\n'),
    "a value of an ini file": (
        SETTINGS,
        "test_settings.py",
        "app/app.ini",
        "[server]\nhost = localhost\nport = 8080\n",
    ),
    "a value of a toml file in the root": (LIMITS, "test_limits.py", "limits.toml", "[most]\nitems = 100\nnotes = 5\n"),
    "a word of a template": (LETTER, "test_letter.py", "letter.txt", "Hello $name!\n"),
}


@pytest.fixture
def play(tmp_path, monkeypatch, lay):
    """`play(files, target, *answers)`: the outcome; without answers there is no model."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))

    async def run(files, target, *answers):
        root = lay(tmp_path / "w", files)
        if answers:
            return (await shop_run.play(root, *answers, target=target))[0]
        settings, _ = configuration.load(root, command_line={"model": "none", "sandbox.kind": "bubblewrap"})
        request = refine.RefineRequest(root=root, target=target)
        return await refine.refine(request, settings=settings, emit=lambda _event: None)

    return run


@pytest.mark.parametrize("name", WITHOUT_A_MODEL)
async def test_a_wrong_value_is_corrected_without_a_model(play, name):
    files, target, path, text = WITHOUT_A_MODEL[name]
    outcome = await play(files, target)
    assert outcome.verified is Verified.VERIFIED, outcome.message
    assert outcome.after == {path: text}


@pytest.mark.story("a wrong value in a data file is corrected in the file, not stated in the code")
async def test_a_value_is_not_hard_coded_in_the_function(play):
    stated = block("shop/rates.py", "    return json", '    if kind == "ink":\n        return 7\n    return json')
    outcome = await play(RATES, "test_rates.py::test_ink", stated)
    assert outcome.verified is Verified.VERIFIED, outcome.message
    assert list(outcome.after) == ["shop/rates.json"]


async def test_a_model_is_shown_the_file_and_corrects_it(play):
    outcome = await play(QUERY, "test_store.py", block("expensive.sql", "where price > 10", "where price >= 10"))
    assert outcome.verified is Verified.VERIFIED, outcome.message
    assert list(outcome.after) == ["expensive.sql"]
    (turn,) = turns(outcome)
    report = texts(outcome, turn.number)[1]
    assert "`expensive.sql` is data that `store.py` reads" in report
    assert "where price > 10" in report


@pytest.mark.parametrize("is_named_by_code", [False, True])
async def test_expected_results_stay(play, is_named_by_code):
    files = {
        "m.py": "def double(n):\n    return n + 2\n" + ('NAME = "expected.json"\n' if is_named_by_code else ""),
        "expected.json": '{"double": 8}\n',
        "test_m.py": "import json\nfrom pathlib import Path\n\nfrom m import double\n\n\ndef test_it():\n"
        '    text = (Path(__file__).parent / "expected.json").read_text()\n'
        '    assert double(4) == json.loads(text)["double"]\n',
    }
    cheat = block("expected.json", '"double": 8', '"double": 6')
    outcome = await play(files, "test_m.py", cheat, block("m.py", "n + 2", "n * 2"))
    assert "expected.json" not in outcome.after
    assert outcome.solved, outcome.message
