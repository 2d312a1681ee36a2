"""An unsolved run goes on from its code action, by a bare client of the real server."""

import json

import pytest

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(180)]

CODE = "def largest(values):\n    return min(values)\n"
TESTS = "from m import largest\n\n\ndef test_largest():\n    assert largest([1, 3, 2]) == 3\n    assert largest([]) is None\n"
AT = {"name": "test_m.py", "line": 3}


def answer(body: str) -> str:
    return json.dumps(f"```python\ndef largest(values):\n    {body}\n```") + "\n"


@pytest.fixture
def files():
    return {"m.py": CODE, "test_m.py": TESTS}


async def test_an_unsolved_run_goes_on_with_its_attempts(real, tmp_path):
    script = tmp_path / "answers.jsonl"
    script.write_text(answer("return sum(values)") + answer("return max(values, default=None)"))
    options = {"preset": "plain", "attempts": 1, "sandbox": {"kind": "bubblewrap"}}
    await real.start(model=f"scripted:{script}", **options)
    await real.action("Refine until tests pass: test_largest", **AT)
    await real.told("is not solved after 1 attempt")
    script.write_text(answer("return max(values, default=None)"))
    await real.action("Continue after 1 attempt: test_largest", **AT)
    await real.wait(lambda m: m.get("method") == "workspace/applyEdit", "an edit", seconds=60)
    await real.told("Fixed: ")
    assert "max(values, default=None)" in real.text("m.py")
    assert not [each for each in await real.actions("test_m.py", 3) if each["title"].startswith("Continue")]
