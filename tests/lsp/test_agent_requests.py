"""`greenloop/verify` and `greenloop/explain`: the real server and engine behind bubblewrap."""

import pytest

from git_program import commit_all

from .conftest import EVERYTHING

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(180)]

TEST = "test_m.py::test_double"
TESTS = "from m import double\n\n\ndef test_double():\n    assert double(5) == 10\n"


@pytest.fixture
def files():
    return {"m.py": "def double(x):\n    return x + 1\n", "test_m.py": TESTS}


async def test_a_failing_a_faked_and_a_right_change(real):
    await real.start(EVERYTHING, opened=("m.py",), sandbox={"kind": "bubblewrap"})
    here = {"uri": real.uri("m.py")}
    reply = await real.call("greenloop/verify", here)
    assert reply["verified"] is False
    assert "git repository" in reply["text"]

    commit_all(real.root)
    explanation = await real.call("greenloop/explain", {**here, "target": TEST})
    explained = explanation["text"]
    [line] = explanation["lines"]
    assert (explanation["passes"], line["uri"], line["line"]) == (False, real.uri("m.py"), 1)
    assert 0 < line["suspicion"] <= 1
    assert explained.startswith(f"{TEST} fails: AssertionError: assert 6 == 10 (test_m.py:5)")
    assert "double, m.py:1" in explained
    at_test = {"uri": real.uri("test_m.py"), "position": {"line": 4, "character": 6}}
    assert (await real.call("greenloop/explain", at_test))["text"] == explained
    assert len(explained) <= 1600  # characters, about 400 tokens

    (real.root / "test_m.py").write_text(TESTS.replace("10", "6"))
    reply = await real.call("greenloop/verify", {**here, "targets": [TEST]})
    assert reply["verified"] is False
    assert f"failed: {TEST}: AssertionError" in reply["text"]
    assert "Next: " in reply["text"]

    (real.root / "test_m.py").write_text(TESTS)
    (real.root / "m.py").write_text("def double(x):\n    return x * 2\n")
    reply = await real.call("greenloop/verify", {**here, "targets": [TEST]})
    assert reply == {"verified": True, "text": "verified: 1 test passes, and nothing was faked."}
    assert "no test" in (await real.call("greenloop/explain", {**here, "target": "test_m.py::test_dobble"}))["text"]
