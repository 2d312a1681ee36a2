"""Call sites of the function."""

from __future__ import annotations

from context_problem import TOOLS, problem
from greenloop.core.records.problem import Approach
from greenloop_lab.drafting.context import callers
from greenloop_sandbox import Frame

SHOP = {
    "pkg/__init__.py": "",
    "pkg/price.py": (
        "def total(items):\n    return sum(items) + total(items[1:])\n\n\n"
        "def receipt(items):\n    # total( is called below\n    return f'{total(\n        items,\n    )}'\n\n\n"
        "def subtotal(items):\n    return 1\n"
    ),
    "pkg/cart.py": "from pkg.price import total\n\n\nclass Cart:\n    def pay(self):\n        due = total(self.items)\n        return due + total([])\n",
    "pkg/deep/down/report.py": "from pkg import price\n\nprice.total([1])\n",
    "other/far.py": "def total(x):\n    return x\n\n\ntotal(3)\n",
    "other/near.py": "import pkg.price\n\n\ndef f():\n    return pkg.price.total([])\n",
    "test_m.py": "from pkg.price import total\n\n\ndef test_total():\n    assert total([]) == 0\n",
}


async def test_call_sites_are_shown_nearest_first_and_few(tmp_path):
    case = problem(tmp_path, SHOP, "pkg/price.py", "total")
    (found,) = await callers.gather(case, TOOLS)
    assert found.title == "Where `total` is called:"
    assert found.text == (
        "# pkg/price.py, receipt\nreturn f'{total(\n    items,\n)}'\n\n"
        "# pkg/cart.py, Cart.pay\ndue = total(self.items)\n\n"
        "# pkg/deep/down/report.py\nprice.total([1])"
    )


async def test_callers_that_the_tests_came_through_are_first(tmp_path):
    ways = {
        "test_m.py::a": Approach(depth=1, caller=Frame(path="test_m.py", line=5, function="test_total")),
        "test_m.py::b": Approach(depth=3, caller=Frame(path="other/near.py", line=5, function="f")),
    }
    (found,) = await callers.gather(problem(tmp_path, SHOP, "pkg/price.py", "total", approaches=ways), TOOLS)
    assert found.text.startswith("# other/near.py, f\nreturn pkg.price.total([])")
    assert "test_m.py" not in found.text


async def test_methods_and_constructors(tmp_path):
    files = {
        "a.py": "class A:\n    def __init__(self, x):\n        self.x = x\n\n    def get(self):\n        return self.x\n",
        "b.py": "from a import A\n\n\ndef f():\n    return A(1).get()\n",
        "c.py": "def f(settings):\n    return settings.get('x')\n",
    }
    (found,) = await callers.gather(problem(tmp_path, files, "a.py", "A.get"), TOOLS)
    assert found.text == "# b.py, f\nreturn A(1).get()"
    (found,) = await callers.gather(problem(tmp_path, files, "a.py", "A.__init__"), TOOLS)
    assert found.text == "# b.py, f\nreturn A(1).get()"
