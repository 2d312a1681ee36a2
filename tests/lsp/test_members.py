"""A member of a workspace is the editor's folder, and the fault is in another member."""

import pytest

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(180)]

TEST, CODE = "packages/a/tests/test_m.py", "packages/b/src/m.py"


@pytest.fixture
def files():
    return {
        "uv.lock": "",
        "packages/a/pyproject.toml": '[tool.pytest.ini_options]\npythonpath = ["../b/src"]\n',
        TEST: "from m import double\n\n\ndef test_double():\n    assert double(5) == 10\n    assert double(-1) == -2\n",
        CODE: "def double(x):\n    return x + 2\n",
    }


async def test_the_sibling_is_edited(real, project):
    real.root = project / "packages" / "a"
    await real.start(opened=(), sandbox={"kind": "bubblewrap"}, model="none")
    real.root = project
    for name in (TEST, CODE):
        real.open(name)
    await real.action("Refine until tests pass", name=TEST)
    await real.told("Changed ")
    assert real.text(CODE) == "def double(x):\n    return x * 2\n"
    assert await real.stop() == 0
