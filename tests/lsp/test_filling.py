"""An unwritten class is filled from its code action, by a bare client of the real server: all methods in one edit."""

import json

import pytest

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(180)]

STACK = """class Stack:
    def __init__(self):
        raise NotImplementedError

    def push(self, item):
        raise NotImplementedError

    def pop(self):
        raise NotImplementedError
"""
TESTS = "from m import Stack\n\n\ndef test_stack():\n    s = Stack()\n    s.push(1)\n    s.push(2)\n    assert s.pop() == 2\n"
ANSWER = """```python
class Stack:
    def __init__(self):
        self.items = []

    def push(self, item):
        self.items.append(item)

    def pop(self):
        return self.items.pop()
```"""
FILL = "Fill this class: Stack"


@pytest.fixture
def files():
    return {"m.py": STACK, "test_m.py": TESTS}


async def test_all_methods_of_a_class_land_in_one_edit(real, tmp_path):
    script = tmp_path / "answers.jsonl"
    script.write_text(json.dumps(ANSWER) + "\n")
    await real.start(opened=("m.py",), model=f"scripted:{script}", sandbox={"kind": "bubblewrap"})
    await real.action(FILL, name="m.py", line=0)
    await real.wait(lambda m: m.get("method") == "workspace/applyEdit", "an edit", seconds=60)
    await real.told("Fixed: ")
    assert len(real.edits) == 1
    assert "raise NotImplementedError" not in real.text("m.py")
    assert (real.root / "m.py").read_text() == STACK
    assert FILL not in [each["title"] for each in await real.actions("m.py", 0)]
