"""Imports that a candidate lacks: of the standard library, and of modules that its file imports from."""

from __future__ import annotations

from dataclasses import replace

import pytest

from greenloop.core.compose import compose
from greenloop.core.records.attempt import Attempt, Candidate
from greenloop.core.records.problem import ImportCorrection
from greenloop.core.records.spec import Region
from greenloop.core.records.verdict import Status, Verdict
from greenloop.drafting.candidates.answers.imports_and_helpers import add_missing_imports, with_missing_imports
from greenloop.drafting.candidates.changes.mutate import Stage, mutants

OWN = Attempt(number=0, verdict=Verdict(status=Status.FAILED))
PLAIN = "def f(x):\n    return x\n"


def imports(case, text, **fields):
    return add_missing_imports(case, Candidate(texts={case.regions[0]: text}, **fields)).imports


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        ("def f(x):\n    return math.sqrt(x)\n", ("import math",)),
        (
            "def f(x):\n    return Counter(x), deque(x)\n",
            ("from collections import Counter", "from collections import deque"),
        ),
        ("def f(x):\n    math = x\n    return math.sqrt(x)\n", ()),
        ("def f(x):\n    import math\n    return math.sqrt(x)\n", ()),
        ("def f(x):\n    return globals()['g'](math.sqrt(x))\n", ()),  # nobody knows what it defines
        ("def f(x):\n    return unknown(x)\n", ()),
        ("def f(x):\n    return math.sqrt(x\n", ()),
    ],
)
def test_of_the_standard_library(problem, new, expected):
    assert imports(problem(PLAIN, "f"), new) == expected


def test_what_the_module_defines_is_not_imported(problem):
    case = problem("class Counter:\n    pass\n\n\n" + PLAIN, "f")
    assert imports(case, "def f(x):\n    return Counter(x)\n") == ()


def test_helpers_need_imports_too(problem):
    case = problem(PLAIN, "f")
    helper = "def g(x):\n    return re.sub('a', 'b', x)\n"
    assert imports(case, "def f(x):\n    return g(x)\n", helpers=(helper,)) == ("import re",)


def test_names_that_other_functions_lack_are_left_alone(problem):
    case = problem(PLAIN + "\n\ndef other():\n    return json.dumps(1)\n", "f")
    assert imports(case, "def f(x):\n    return math.sqrt(x)\n") == ("import math",)


def test_names_of_the_projects_modules_with_unsaved_texts(problem, tmp_path):
    case = problem("from errors import Missing\n\n\n" + PLAIN, "f")
    case = replace(case, root=tmp_path, buffers={"errors.py": b"class Missing: ...\nclass Closed: ...\n"})
    (tmp_path / "errors.py").write_text("class Missing: ...\n")
    assert imports(case, "def f(x):\n    raise Closed(x)\n") == ("from errors import Closed",)


def test_what_other_code_of_the_file_lacks_at_import_is_added_too(problem):
    case = problem(PLAIN + "\n\n@dataclass\nclass P:\n    def g(self):\n        return json.dumps(1)\n", "f")
    assert imports(case, "def f(x):\n    return 1\n") == ("from dataclasses import dataclass",)


def test_the_users_own_code_is_completed(problem):
    case = problem("def f(x):\n    return math.sqrt(x)\n", "f")
    completed = with_missing_imports(case, OWN)
    assert compose(case, completed)["m.py"] == "import math\n\n\ndef f(x):\n    return math.sqrt(x)\n"
    assert with_missing_imports(problem(PLAIN, "f"), OWN) is None


def test_every_change_of_one_token_has_the_imports_that_the_code_lacks(problem):
    case = problem("def f(x):\n    return math.sqrt(x) + 1\n", "f")
    assert {each.imports for each in mutants(case, OWN, Stage.EDITS)} == {("import math",)}


WRONG = "from math import sqroot\n\n\ndef f(x):\n    return sqroot(x)\n\n\ndef g(x):\n    return sqroot(x) + f(x)\n"


@pytest.fixture
def miswritten(problem):
    """A module whose import is to be corrected, and both of its functions with it."""
    case = problem(WRONG, "f")
    (first,) = case.regions
    second = Region(path="m.py", qualname="g", start=8, end=9)
    statement = Region(path="m.py", qualname="sqroot", start=1, end=1, imports=True)
    correction = ImportCorrection(
        region=statement, text="from math import sqrt\n", renamed={"sqroot": "sqrt"}, uses=(first, second)
    )
    return replace(case, corrections=(correction,))


def test_a_wrong_import_is_corrected_with_all_that_uses_it(miswritten):
    completed = with_missing_imports(miswritten, OWN)
    assert compose(miswritten, completed)["m.py"] == WRONG.replace("sqroot", "sqrt")


def test_an_answer_gets_the_corrected_import_too(miswritten):
    answer = Candidate(texts={miswritten.regions[0]: "def f(x):\n    return sqroot(abs(x))\n"})
    text = compose(miswritten, add_missing_imports(miswritten, answer))["m.py"]
    assert text == WRONG.replace("sqroot(x)\n\n", "sqroot(abs(x))\n\n", 1).replace("sqroot", "sqrt")


def test_where_only_the_import_is_wrong_nothing_else_is_changed(miswritten):
    (correction,) = miswritten.corrections
    case = replace(miswritten, regions=(correction.region,))
    case = replace(case, corrections=(replace(correction, text="from cmath import sqroot\n", renamed={}, uses=()),))
    completed = with_missing_imports(case, OWN)
    assert completed.texts == {correction.region: "from cmath import sqroot\n"}
    assert {*mutants(case, OWN, Stage.EDITS)} == set()
