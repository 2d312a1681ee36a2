"""Code that is made, wrapped or run in unusual ways: a sensible ranking, or one clear sentence."""

from __future__ import annotations

import pytest

from greenloop.localize.baseline import measure_baseline
from greenloop.localize.context import BaselineContext
from greenloop.project import settings
from greenloop.project.environment import interpreters
from greenloop.project.snapshot import Snapshot
from greenloop.project.typed_targets import parse_target
from greenloop_sandbox import Limits, SandboxSpec
from greenloop_sandbox.backends.bubblewrap import Bubblewrap

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(180)]

MANY = "".join(f"def f{number}(x):\n    return f{number + 1}(x)\n\n\n" for number in range(800))
MANY += "def f800(x):\n    return x + 1\n\n\n" + "".join(f"def g{n}(x):\n    return x\n\n\n" for n in range(2300))
MANY += "def run(x):\n    for n in range(2300):\n        x = globals()[f'g{n}'](x)\n    return f0(x)\n"

# Module, body of the failing test, and the functions one of which must stand among the first.
SHAPES = {
    "3000 functions": (MANY, "assert m.run(1) == 1", {"f800", "run"}),
    "recursion": (
        "def depth(n):\n    if n == 0:\n        return 1\n    return depth(n - 1)\n",
        "assert m.depth(850) == 0",
        {"depth"},
    ),
    "endless recursion": ("def depth(n):\n    return depth(n + 1)\n", "assert m.depth(0) == 0", {"depth"}),
    "threads": (
        (
            "import threading\n\n\ndef work(out):\n    out.append(1)\n\n\ndef run():\n    out = []\n"
            "    every = [threading.Thread(target=work, args=(out,)) for _ in range(8)]\n"
            "    for each in every:\n        each.start()\n    for each in every:\n        each.join()\n    return sum(out)\n"
        ),
        "assert m.run() == 16",
        {"work", "run"},
    ),
    "a pool of threads": (
        (
            "from concurrent.futures import ThreadPoolExecutor\n\n\ndef square(n):\n    return n + n\n\n\ndef run():\n"
            "    with ThreadPoolExecutor(4) as pool:\n        return list(pool.map(square, range(4)))\n"
        ),
        "assert m.run() == [0, 1, 4, 9]",
        {"square", "run"},
    ),
    "tasks": (
        (
            "import asyncio\n\n\nasync def one(n):\n    await asyncio.sleep(0)\n    return n + n\n\n\nasync def every():\n"
            "    return await asyncio.gather(*[one(n) for n in range(4)])\n\n\ndef run():\n    return asyncio.run(every())\n"
        ),
        "assert m.run() == [0, 1, 4, 9]",
        {"one", "every", "run"},
    ),
    "a C function calls back": (
        (
            "import functools\n\n\ndef longer(one, other):\n    return len(other) - len(one) or 0\n\n\ndef order(words):\n"
            "    return sorted(words, key=functools.cmp_to_key(longer))\n"
        ),
        "assert m.order(['ccc', 'a', 'bb']) == ['a', 'bb', 'ccc']",
        {"longer", "order"},
    ),
    "code made by exec": (
        "space = {}\nexec('def double(n):\\n    return n + 1\\n', space)\n\n\ndef run(n):\n    return space['double'](n)\n",
        "assert m.run(5) == 10",
        {"run"},
    ),
    "dataclass": (
        (
            "from dataclasses import dataclass\n\n\n@dataclass(order=True)\nclass Point:\n    x: int\n    y: int = 0\n\n"
            "    def __post_init__(self):\n        self.x = self.x + 1\n"
        ),
        "assert m.Point(1) == m.Point(1, 0) and m.Point(1).x == 1",
        {"Point.__post_init__"},
    ),
    "namedtuple": (
        (
            "from collections import namedtuple\n\n\nclass Point(namedtuple('Point', 'x y')):\n    def area(self):\n"
            "        return self.x + self.y\n"
        ),
        "assert m.Point(2, 3).area() == 6",
        {"Point.area"},
    ),
    "defined twice": (
        "def f(n):\n    return n\n\n\ndef f(n):\n    return n + 1\n",
        "assert m.f(5) == 10",
        {"f"},
    ),
    "defined by a decorator": (
        (
            "import functools\n\n\ndef twice(inner):\n    @functools.wraps(inner)\n    def call(*given):\n"
            "        return inner(*given) + 1\n\n    return call\n\n\n@twice\ndef f(n):\n    return n\n"
        ),
        "assert m.f(5) == 10",
        {"f", "twice", "twice.call"},
    ),
    "overloads": (
        (
            "from typing import overload\n\n\n@overload\ndef f(n: int) -> int: ...\n@overload\ndef f(n: str) -> str: ...\n"
            "def f(n):\n    return n + n + n\n"
        ),
        "assert m.f(5) == 10",
        {"f"},
    ),
    "property with a setter": (
        (
            "class Box:\n    @property\n    def size(self):\n        return self._size\n\n    @size.setter\n"
            "    def size(self, value):\n        self._size = value + 1\n"
        ),
        "box = m.Box()\n    box.size = 4\n    assert box.size == 4",
        {"Box.size"},
    ),
    "nested": (
        "def outer(n):\n    def inner(k):\n        return k + 1\n\n    return inner(n)\n",
        "assert m.outer(5) == 10",
        {"outer", "outer.inner"},
    ),
    "lambda": ("double = lambda n: n + 1\n\n\ndef run(n):\n    return double(n)\n", "assert m.run(5) == 10", {"run"}),
    "replaced by the test": (
        "def rate():\n    return 1\n\n\ndef price(n):\n    return n + rate()\n",
        (
            "import pytest\n    with pytest.MonkeyPatch.context() as patch:\n"
            "        patch.setattr(m, 'rate', lambda: 3)\n        assert m.price(2) == 6"
        ),
        {"price"},
    ),
    "a generator that is left": (
        (
            "def numbers():\n    n = 0\n    while True:\n        yield n + 1\n        n += 1\n\n\ndef first(k):\n"
            "    found = numbers()\n    return [next(found) for _ in range(k)]\n"
        ),
        "assert m.first(3) == [0, 1, 2]",
        {"numbers", "first"},
    ),
}


@pytest.mark.parametrize(("module", "body", "right"), list(SHAPES.values()), ids=list(SHAPES))
async def test_a_function_that_can_be_at_fault_is_among_the_first(module, body, right, tmp_path, lay, bare_python):
    texts = {"m.py": module, "test_m.py": f"import m\n\n\ndef test_f():\n    {body}\n"}
    root = lay(tmp_path / "w", texts)
    found = settings.Settings(interpreter=str(bare_python))
    place = SandboxSpec(root=root, environment=interpreters.find_environment(root, found), limits=Limits(seconds=20.0))
    session = await Bubblewrap().open(place)
    try:
        context = BaselineContext(
            target=parse_target("test_m.py::test_f", root).target,
            snapshot=Snapshot(root=root, buffers={}),
            session=session,
            place=place,
            settings=found,
            report_status=print,
        )
        baseline = await measure_baseline(context)
    finally:
        await session.close()
    assert not baseline.fault
    first = [region.qualname for region in (*baseline.problem.regions, *baseline.problem.suspects)][:10]
    assert right & {*first}, first
