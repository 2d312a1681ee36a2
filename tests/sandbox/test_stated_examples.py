"""Prose examples, sections and comments become tests that really run: red on the stub, green on a right body."""

from __future__ import annotations

import pytest

from greenloop.plugins.stated_examples import examples
from greenloop.project import targets
from greenloop_sandbox import TestRun
from greenloop_sandbox.report import cases as report

pytestmark = pytest.mark.needs("bubblewrap")

FORMS = {
    "prose": '''def half(x):
    """Half of x, rounded down.

    half(4) returns 2, and half(5) is 2.
    For example, half([]) raises a TypeError.
    """
    raise NotImplementedError
''',
    "google": '''def half(x):
    """Half of x, rounded down.

    Args:
        x (int): Any.

    Returns:
        int: half(4) == 2

    Examples:
        assert half(7) == 3
    """
    raise NotImplementedError
''',
    "numpy": '''def half(x):
    """Half of x, rounded down.

    Parameters
    ----------
    x : int

    Examples
    --------
    half(4) -> 2
    half(-2) -> -1
    """
    raise NotImplementedError
''',
    "comments": """def half(x):
    # half(4) -> 2
    # assert half(5) == 2
    pass  # TODO: half([]) raises TypeError
""",
}
LINES = {"prose": [4, 4, 5], "google": [8, 11], "numpy": [10, 11], "comments": [2, 3, 4]}
RIGHT = "def half(x):\n    return x // 2\n"
WRONG = "def half(x):\n    return x\n"


@pytest.mark.story("a docstring becomes an implementation", only=("google",))
@pytest.mark.parametrize("form", FORMS)
async def test_what_a_docstring_states_is_red_on_the_stub_and_green_on_a_right_body(form, tmp_path, lay, opened):
    text = FORMS[form]
    root = lay(tmp_path / "project", {"pkg/__init__.py": "", "pkg/numbers.py": text})
    target = targets.find_target(text, "pkg/numbers.py", "half")
    spec = examples.build_spec(target.region, text, "pkg.numbers")
    assert [case.line for case in spec.cases] == LINES[form]
    session = await opened(root)

    async def failing(body: str | None) -> list[int]:
        """The docstring's lines of the cases that fail; every case runs."""
        code = {} if body is None else {"pkg/numbers.py": body}
        files = {path: content.encode() for path, content in {**spec.files, **code}.items()}
        results = {
            each.id: each
            for each in report.case_results(await session.run(TestRun(selectors=spec.selectors, files=files)))
        }
        assert results.keys() == {case.id for case in spec.cases}
        return [case.line for case in spec.cases if not results[case.id].passed]

    assert await failing(None) == LINES[form]
    assert await failing(RIGHT) == []
    assert await failing(WRONG) == LINES[form]
    assert sorted(path.name for path in (root / "pkg").iterdir()) == ["__init__.py", "numbers.py"]
