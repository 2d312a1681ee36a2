"""Code under test that cannot be imported: how it is completed for the baseline."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from executions import execute
from greenloop.plugins.repairs.importable import complete
from greenloop.project.snapshot import Snapshot


@pytest.fixture
def completed(tmp_path):
    """Completes m.py, whose import fails in a line."""

    def build(text, line, *, path="m.py", message="", error="SyntaxError"):
        snapshot = Snapshot(root=tmp_path, buffers={path: text.encode()})
        context: Any = SimpleNamespace(
            snapshot=snapshot,
            patterns=("test_*.py",),
            find_fault=lambda failures: failures[0].type == "OSError",
            sites=(),
        )
        frames = [[path, line, "<module>"]]
        record = {"kind": "collect_error", "id": "test_m.py", "type": error, "message": message, "frames": frames}
        return complete(context, execute({}, extra=[record]))

    return build


def test_a_function_that_cannot_be_compiled_raises(completed):
    found = completed("def f(x):\n    return (x\n\n\ndef g():\n    return 1\n", 2)
    assert found.text == 'def f(*args, **kwargs):\n    raise NotImplementedError("f")\n\n\ndef g():\n    return 1\n'
    assert (found.region.qualname, found.region.start, found.region.end, found.is_broken) == ("f", 1, 2, True)


def test_of_a_method_with_a_decorator_the_margin_stays(completed):
    found = completed("class A:\n\t@property\n\tasync def f(self:\n\t\treturn 1\n", 3)
    assert found.text == 'class A:\n\tasync def f(*args, **kwargs):\n\t\traise NotImplementedError("f")\n'
    assert found.region.qualname == "A.f"


def test_a_missing_block_belongs_to_the_line_that_the_message_names(completed):
    text = "def f(x):\n\n\ndef g():\n    return 1\n"
    found = completed(text, 4, message="expected an indented block after function definition on line 1")
    assert found.region.qualname == "f"
    assert "def g():\n    return 1\n" in found.text


def test_names_that_the_import_needs_are_imported(completed):
    text = '"""M."""\r\n\r\n\r\n@dataclass\r\nclass P:\r\n    def f(self) -> Any:\r\n        return sqrt(2)\r\n'
    found = completed(text, 4, error="NameError")
    assert found.text.startswith(
        '"""M."""\r\n\r\nfrom typing import Any\r\nfrom dataclasses import dataclass\r\n\r\n\r\n@dataclass\r\n'
    )
    assert (found.region.qualname, found.is_broken) == ("P.f", False)


@pytest.mark.parametrize(
    ("text", "line", "more"),
    [
        ("x = (\n", 1, {}),  # outside any function
        ("def f():\n    return (\n", 2, {"path": "test_m.py"}),  # a test
        ("def f():\n    return 1\n", 2, {"error": "OSError"}),  # the environment is at fault
        ("for n in 1:\n    pass\n", 1, {"error": "TypeError"}),  # neither a function nor an assignment
    ],
)
def test_what_nobody_can_complete(completed, text, line, more):
    assert completed(text, line, **more) is None


@pytest.mark.parametrize(
    ("text", "line", "name"),
    [
        ("def f(x: Unheard):\n    return x\n", 1, "f"),
        ("x = Any\n", 1, "x"),
        ("def f():\n    return 1\n", 2, "f"),
    ],
)
def test_what_raises_at_import_is_broken(completed, text, line, name):
    found = completed(text, line, error="NameError")
    assert (found.region.qualname, found.region.assigns, found.is_broken) == (name, name == "x", True)
    assert "MagicMock" in found.text


def test_an_import_of_what_is_elsewhere_is_corrected_and_keeps_its_wrong_name(completed):
    text = "import re\r\nfrom math import sqroot\r\n\r\n\r\ndef f(x):\r\n    return sqroot(x)\r\n"
    found = completed(text, 2, message="cannot import name 'sqroot' from 'math' (math.so)", error="ImportError")
    rest = text.partition("sqroot\r\n")[2]
    assert found.text == f"import re\r\nfrom math import sqrt\r\nsqroot = sqrt\r\n{rest}"
    (correction,) = found.corrections
    assert (correction.region, correction.renamed) == (found.region, {"sqroot": "sqrt"})
    assert (found.region.qualname, found.region.start, found.region.imports) == ("sqroot", 2, True)
