"""Code that tests cannot run yet is completed by the modules that are installed, the first that can."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

from greenloop.localize import incomplete_code
from greenloop_sandbox import Execution, Failure

CONTEXT = SimpleNamespace(
    snapshot=SimpleNamespace(root=Path()), target=SimpleNamespace(path="test_m.py"), patterns=None
)
MISSING = [Failure(type="ImportError", message="cannot import name 'f' from 'm'")]
COMPLETER = """
def find_stubs(failures, text_of, root, test_path, *, patterns=None):
    return ({test_path: NAME}, ()) if NAME == "b" else None

async def measure_completed(context, execution, measure):
    return await measure(NAME) if NAME == "b" else None
"""


async def measure(name):
    return f"a baseline by {name}"


async def complete():
    stubs = incomplete_code.find_stubs(CONTEXT, MISSING, {}.get)
    return stubs, await incomplete_code.measure_completed(CONTEXT, Execution(), measure)


async def test_without_a_module_nothing_is_completed(install):
    assert await complete() == (None, None)


async def test_the_first_module_that_can_completes_the_code(install):
    for name in ("a", "b"):
        entries = f"[greenloop.incomplete_code]\n{name} = complete_{name}\n"
        install(name, entries, {f"complete_{name}.py": f"NAME = {name!r}\n{COMPLETER}"})
    assert await complete() == (({"test_m.py": "b"}, ()), "a baseline by b")
