"""Calls, functions and classes that an answer adds to modules."""

from __future__ import annotations

from pathlib import Path

import pytest

from greenloop.core.compose import compose
from greenloop.core.records.attempt import Candidate
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region, Spec
from greenloop.drafting.candidates.answers.parse_answer import read
from greenloop.drafting.candidates.checks.gate import check

MODULE = """\
HANDLERS = {}


def register(name, handler):
    HANDLERS[name] = handler


def up(x):
    return x.upper()


def low(x):
    return x.lower()


register("up", up)


def run(name, x):
    return HANDLERS[name](x)
"""
CALL = 'register("low", low)\n'


def changed(code: str, module: str = MODULE) -> str:
    """The file after an answer about `run`."""
    files = {"m.py": module}
    line = module.splitlines().index("def run(name, x):") + 1
    region = Region(path="m.py", qualname="run", start=line, end=line + 1)
    problem = Problem(root=Path("/w"), spec=Spec(), regions=(region,), originals=files, files=files)
    candidate = read(f"```python\n{code}\n```", problem, wide=True)
    assert isinstance(candidate, Candidate)
    composed = compose(problem, candidate)
    assert check(problem, candidate, composed) is None or composed["m.py"] == module
    return composed["m.py"]


def test_a_call_follows_the_function_above_it():
    expected = MODULE.replace("    return x.lower()\n", f"    return x.lower()\n\n\n{CALL}")
    assert changed(MODULE.replace('register("up", up)\n', f'register("up", up)\n{CALL}')) == expected


def test_a_call_that_replaces_another_is_added_too():
    assert changed(MODULE.replace('register("up", up)\n', CALL)).count("register(") == 3


def test_a_call_at_the_end_follows_the_last_function():
    assert changed(f"{MODULE}\n\n{CALL}") == f"{MODULE}\n\n{CALL}"


def test_an_assignment_gets_its_call_in_the_next_line():
    module = 'names = []\n\n\ndef run(name, x):\n    return names\n\n\nnames.append("a")\n'
    answer = f'names = []\nnames.append("b")\n\n\n{module.partition("[]")[2].strip()}'
    assert changed(answer, module) == module.replace("names = []\n", 'names = []\nnames.append("b")\n')


@pytest.mark.parametrize(
    "code",
    [
        f"{MODULE}\n\nprint(run('up', 'a'))",  # an example
        f"{CALL}\n\n{MODULE}",  # above everything
        CALL + "\n\ndef run(name, x):\n    return HANDLERS[name](x)",
        f'{MODULE}\n\nif __name__ == "__main__":\n    {CALL}',
    ],
)
def test_other_calls_are_left_out(code):
    assert changed(code) == MODULE


UTIL, SERVICE = "def fmt(x):\n    return str(x)\n", "from app.util import fmt\n\n\ndef show(x):\n    return fmt(x)\n"
CLEAN = "def clean(x):\n    return x.strip()\n"


def composed(*codes: str) -> dict[str, str]:
    """Both files after an answer about `show`, whose suspect is `fmt`."""
    files = {"app/service.py": SERVICE, "app/util.py": UTIL}
    show = Region(path="app/service.py", qualname="show", start=4, end=5)
    fmt = Region(path="app/util.py", qualname="fmt", start=1, end=2)
    problem = Problem(root=Path("/w"), spec=Spec(), regions=(show,), suspects=(fmt,), originals=files, files=files)
    candidate = read("\n".join(f"```python\n{code}```" for code in codes), problem, wide=True)
    assert isinstance(candidate, Candidate)
    return compose(problem, candidate)


@pytest.mark.parametrize("module", ["app.util", ".util"])
def test_a_function_that_another_module_imports_is_added_to_its_own(module):
    service = f"from {module} import clean, fmt\n\n\ndef show(x):\n    return fmt(clean(x))\n"
    files = composed(f"{UTIL}\n\n{CLEAN}", service)
    assert files["app/util.py"] == f"{UTIL}\n\n{CLEAN}"
    assert "return fmt(clean(x))" in files["app/service.py"]


def test_a_suspect_in_another_file_changes_too():
    files = composed(UTIL.replace("str(x)", "repr(x)"), SERVICE.replace("fmt(x)", "fmt(x).strip()"))
    assert files == {
        "app/util.py": UTIL.replace("str(x)", "repr(x)"),
        "app/service.py": SERVICE.replace("fmt(x)", "fmt(x).strip()"),
    }


def test_what_a_third_module_is_to_have_is_no_part_of_the_candidate():
    service = "from app.other import clean\nfrom app.util import fmt\n\n\ndef show(x):\n    return fmt(clean(x))\n"
    assert "clean" not in composed(CLEAN, service).get("app/util.py", UTIL)
