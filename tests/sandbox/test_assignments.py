"""Faults outside functions: tables, class attributes, regular expressions and defaults, in a real sandbox."""

from __future__ import annotations

import json

import pytest

from greenloop.cli.main import main

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(240)]

TABLE = """\
RATES = {
    "book": 7,
    "pen": 19,
    "ink": 40,
}


def tax(kind, price):
    return price * RATES[kind] // 100
"""
TABLE_TEST = """\
from shop import tax


def test_tax():
    assert tax("pen", 200) == 38


def test_book():
    assert tax("book", 200) == 14
"""

ATTRIBUTE = """\
class Basket:
    limit = 10
    kinds = ("pen", "book")

    def __init__(self):
        self.items = []

    def add(self, item):
        if item not in self.kinds:
            raise ValueError(item)
        self.items.append(item)
"""
ATTRIBUTE_TEST = """\
from shop import Basket


def test_ink():
    basket = Basket()
    for item in ("pen", "ink"):
        basket.add(item)
    assert basket.items == ["pen", "ink"]
"""

# The pattern that a function uses is made of another one.
REGEX = """\
import re

_NUMBER = r"[0-9]+"
_WORD = r"[a-z]+"
_LINE = re.compile(_WORD + "=" + _NUMBER)


def parse(line):
    found = _LINE.fullmatch(line)
    return found.group(0).split("=") if found else None
"""
REGEX_TEST = """\
from shop import parse


def test_name_with_underscore():
    assert parse("a_b=1") == ["a_b", "1"]


def test_name():
    assert parse("a=12") == ["a", "12"]


def test_bad():
    assert parse("a=b") is None
"""

DEFAULT = """\
SIZE = 3


def chunks(items, size=SIZE):
    return [items[at : at + size] for at in range(0, len(items), size)]
"""
DEFAULT_TEST = """\
from shop import chunks


def test_default():
    assert chunks("abcdefgh") == ["abcd", "efgh"]


def test_size():
    assert chunks("abc", 2) == ["ab", "c"]
"""


def fenced(code: str) -> str:
    return f"```python\n{code}\n```"


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """`greenloop fix` of a test: its events. `answers` are those of the model, each again and again."""

    def run(test: str, *answers: str | dict, files: dict[str, str]) -> list[dict]:
        for path, text in files.items():
            (tmp_path / path).write_text(text)
        (tmp_path / "pytest.ini").write_text("[pytest]\npythonpath = .\n")
        lines = [line for line in (answers or ("I do not know.",)) for _ in range(30)]
        (tmp_path / "answers.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("GREENLOOP_SANDBOX_KIND", "bubblewrap")
        main(["fix", f"test_shop.py::{test}", "--model", "scripted:answers.jsonl", "--json", "--apply"])
        return [json.loads(row) for row in capsys.readouterr().out.splitlines()]

    return run


def assert_verified(events: list[dict]) -> None:
    assert (events[-1]["solved"], events[-1]["verified"]) == (True, "verified"), events[-1]["message"]


def test_a_number_in_a_table_is_found_without_a_model(run, tmp_path):
    events = run("test_tax", files={"shop.py": TABLE.replace("19", "18"), "test_shop.py": TABLE_TEST})
    assert_verified(events)
    started = next(event for event in events if event["event"] == "started")
    assert [(each["name"], each["assigns"]) for each in started["suspects"]] == [("RATES", True)]
    assert not any(event["event"] == "proposed" for event in events)
    assert (tmp_path / "shop.py").read_text() == TABLE


def test_an_answer_with_the_whole_table_is_put_to_its_place(run, tmp_path):
    wrong = TABLE.replace('    "pen": 19,\n', "").replace('"ink"', '"ink-well"')
    events = run("test_tax", fenced(TABLE), files={"shop.py": wrong, "test_shop.py": TABLE_TEST})
    assert_verified(events)
    assert (tmp_path / "shop.py").read_text() == TABLE


def test_a_class_attribute(run, tmp_path):
    right = ATTRIBUTE.replace('"book")', '"book", "ink")')
    answer = fenced('class Basket:\n    kinds = ("pen", "book", "ink")')
    events = run("test_ink", answer, files={"shop.py": ATTRIBUTE, "test_shop.py": ATTRIBUTE_TEST})
    assert_verified(events)
    assert (tmp_path / "shop.py").read_text() == right


def test_a_regular_expression_that_another_one_is_made_of(run, tmp_path):
    right = REGEX.replace("[a-z]", "[a-z_]")
    answer = fenced('_WORD = r"[a-z_]+"')
    events = run("test_name_with_underscore", answer, files={"shop.py": REGEX, "test_shop.py": REGEX_TEST})
    assert_verified(events)
    assert (tmp_path / "shop.py").read_text() == right


def test_a_default_that_a_constant_gives(run, tmp_path):
    events = run("test_default", files={"shop.py": DEFAULT, "test_shop.py": DEFAULT_TEST})
    assert_verified(events)
    assert (tmp_path / "shop.py").read_text() == DEFAULT.replace("SIZE = 3", "SIZE = 4")


def test_a_default_of_its_own(run, tmp_path):
    wrong = DEFAULT.replace("SIZE = 3\n\n\n", "").replace("=SIZE", "=3")
    answer = fenced(wrong.replace("=3", "=4"))  # where the machine is too busy for the one-token changes
    events = run("test_default", answer, files={"shop.py": wrong, "test_shop.py": DEFAULT_TEST})
    assert_verified(events)
    assert (tmp_path / "shop.py").read_text() == wrong.replace("=3", "=4")


def test_a_test_that_reads_an_assignment_and_reaches_no_function(run, tmp_path):
    files = {
        "limits.py": "LOWEST = 1\nHIGHEST = 9\n",
        "test_shop.py": "import limits\n\n\ndef test_highest():\n    assert limits.HIGHEST == 10\n",
    }
    events = run("test_highest", files=files)
    assert_verified(events)
    assert (tmp_path / "limits.py").read_text() == "LOWEST = 1\nHIGHEST = 10\n"


def test_a_constant_of_a_module_of_its_own_where_functions_of_many_modules_run(run, tmp_path):
    files = {
        "forms.py": 'PAGE = "<h2>{title}</h2>"\n',
        "shop.py": "from forms import PAGE\nfrom marks import bold\nfrom words import title\n\n\n"
        "def page(name):\n    return PAGE.format(title=bold(title(name)))\n",
        "marks.py": 'from sizes import limit\n\n\ndef bold(text):\n    return f"<b>{limit(text)}</b>"\n',
        "words.py": "def title(text):\n    return text.title()\n",
        "sizes.py": "def limit(text):\n    return text[:80]\n",
        "test_shop.py": "from shop import page\n\n\n"
        'def test_page():\n    assert page("pen") == "<h1><b>Pen</b></h1>"\n',
    }
    events = run("test_page", fenced('PAGE = "<h1>{title}</h1>"'), files=files)
    assert_verified(events)
    assert (tmp_path / "forms.py").read_text() == 'PAGE = "<h1>{title}</h1>"\n'


def test_a_hole_in_a_table(run, tmp_path):
    wrong = TABLE.replace('"pen": 19', '"pencil": 7')
    events = run(
        "test_tax", {"infill": '"pen": 19,'}, "I do not know.", files={"shop.py": wrong, "test_shop.py": TABLE_TEST}
    )
    assert_verified(events)
    assert (tmp_path / "shop.py").read_text() == TABLE
