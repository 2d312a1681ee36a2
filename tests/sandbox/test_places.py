"""Answers that change more than one place, where the prompt has room for them, in a real sandbox."""

from __future__ import annotations

import json

import pytest

from greenloop.cli.main import main

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(240)]

# Both bounds are wrong, and one alone mends no test.
RANGE = '''\
"""Ranges."""


class Range:
    def __init__(self, low, high):
        self.low = low
        self.high = high

    def lower(self):
        return {lower}

    def upper(self):
        return {upper}

    def both(self):
        return "%s..%s" % (self.lower(), self.upper())
'''
WRONG = RANGE.format(lower='str(self.low) + "?"', upper='"?" + str(self.high)')
RIGHT = RANGE.format(lower='f"[{self.low}"', upper='f"{self.high}]"')
RANGE_TEST = """\
from ranges import Range


def test_both():
    assert Range(1, 2).both() == "[1..2]"


def test_low():
    assert Range(1, 2).low == 1
"""


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """`greenloop fix` of the first test, with room for three suspects: its events. The model gives one answer."""

    def run(answer: str, files: dict[str, str], *options: str) -> list[dict]:
        for path, text in files.items():
            (tmp_path / path).write_text(text)
        (tmp_path / "pytest.ini").write_text("[pytest]\npythonpath = .\n")
        (tmp_path / "answers.jsonl").write_text((json.dumps(answer) + "\n") * 30)
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("GREENLOOP_SANDBOX_KIND", "bubblewrap")
        model = ["--model", "scripted:answers.jsonl", *(options or ("--set", "prompt.places=3"))]
        main(["fix", "test_it.py", *model, "--json", "--apply"])
        return [json.loads(row) for row in capsys.readouterr().out.splitlines()]

    return run


def fenced(*codes: str) -> str:
    return "\n".join(f"```python\n{code}\n```" for code in codes)


def assert_verified(events: list[dict]) -> None:
    assert (events[-1]["solved"], events[-1]["verified"]) == (True, "verified"), events[-1]["message"]


def changed(events: list[dict]) -> list[str]:
    return [event["functions"] for event in events if event["event"] == "tested"][-1]


def test_two_methods_of_one_class(run, tmp_path):
    methods = 'class Range:\n    def lower(self):\n        return f"[{self.low}"\n\n'
    methods += '    def upper(self):\n        return f"{self.high}]"\n'
    events = run(fenced(methods), {"ranges.py": WRONG, "test_it.py": RANGE_TEST})
    assert_verified(events)
    assert sorted(changed(events)) == ["ranges.py::Range.lower", "ranges.py::Range.upper"]
    assert (tmp_path / "ranges.py").read_text() == RIGHT


def test_a_whole_module_changes_what_differs_in_it(run, tmp_path):
    events = run(fenced(RIGHT), {"ranges.py": WRONG, "test_it.py": RANGE_TEST})
    assert_verified(events)
    assert sorted(changed(events)) == ["ranges.py::Range.lower", "ranges.py::Range.upper"]
    assert (tmp_path / "ranges.py").read_text() == RIGHT


def test_two_files_and_a_table(run, tmp_path):
    files = {
        "rates.py": 'RATES = {"pen": "19"}\n\n\ndef rate(kind):\n    return RATES[kind] + "%"\n',
        "shop.py": "import rates\n\n\ndef tax(kind, price):\n    return price + rates.rate(kind)\n",
        "test_it.py": 'from shop import tax\n\n\ndef test_tax():\n    assert tax("pen", 200) == 38\n',
    }
    answer = fenced(
        'RATES = {"pen": 19}\n\n\ndef rate(kind):\n    return RATES[kind]',
        "import rates\n\n\ndef tax(kind, price):\n    return price * rates.rate(kind) // 100",
    )
    events = run(answer, files)
    assert_verified(events)
    assert sorted(changed(events)) == ["rates.py::RATES", "rates.py::rate", "shop.py::tax"]
    assert (tmp_path / "rates.py").read_text() == 'RATES = {"pen": 19}\n\n\ndef rate(kind):\n    return RATES[kind]\n'
    assert (tmp_path / "shop.py").read_text() == files["shop.py"].replace("price +", "price *").replace(
        "(kind)\n", "(kind) // 100\n"
    )
    assert (tmp_path / "test_it.py").read_text() == files["test_it.py"]


def test_new_methods_attributes_imports_and_helpers(run, tmp_path):
    answer = """\
import math

class Range:
    \"\"\"A range.\"\"\"
    mark = "["

    def lower(self):
        return f"{self.mark}{whole(self.low)}"

    def upper(self):
        return f"{self.high}]"

    def width(self):
        return self.high - self.low


def whole(number):
    return math.floor(number)
"""
    events = run(fenced(answer), {"ranges.py": WRONG, "test_it.py": RANGE_TEST})
    assert_verified(events)
    text = (tmp_path / "ranges.py").read_text()
    for part in ("import math\n", "def whole(number):\n", '    mark = "["\n', "    def width(self):\n"):
        assert part in text
    assert text.index("class Range") < text.index("mark =") < text.index("def __init__")


def test_tests_and_their_setup_are_never_changed(run, tmp_path):
    files = {
        "ranges.py": WRONG,
        "test_it.py": RANGE_TEST,
        "conftest.py": "import pytest\n\n\n@pytest.fixture\ndef end():\n    return 2\n",
    }
    answer = fenced("def test_both():\n    pass", "def end():\n    return 3", RIGHT)
    events = run(answer, files)
    assert_verified(events)
    for path in ("test_it.py", "conftest.py"):
        assert (tmp_path / path).read_text() == files[path]
    events = run(fenced("def test_both():\n    pass", "def end():\n    return 3"), files)
    assert not events[-1]["solved"]
    for path, text in files.items():
        assert (tmp_path / path).read_text() == text


def test_without_room_an_answer_changes_the_regions_alone(run):
    # Two regions are asked for; the answer has a third function, which is as wrong as before.
    events = run(fenced(RIGHT), {"ranges.py": WRONG, "test_it.py": RANGE_TEST}, "--set", "regions=1")
    answers = [event for event in events if event["event"] == "tested" and event["model"].startswith("scripted:")]
    assert answers
    assert all(len(event["functions"]) <= 1 for event in answers)


def test_an_answer_about_another_function_of_the_file_is_tried_there(run, tmp_path):
    # The test never calls `rate` itself: it was called when the module was imported.
    files = {
        "shop.py": "def rate(kind):\n    return len(kind) * 2\n\n\nRATE = rate('pen')\n\n\n"
        "def tax(price):\n    return price * RATE // 100\n",
        "test_it.py": "from shop import tax\n\n\ndef test_tax():\n    assert tax(200) == 38\n",
    }
    right = "def rate(kind):\n    return 19 if kind == 'pen' else len(kind) * 2"
    events = run(fenced(right), files, "--set", "prompt.places=0")
    assert events[-1]["solved"], events[-1]["message"]
    assert changed(events) == ["shop.py::rate"]
    assert right in (tmp_path / "shop.py").read_text()
