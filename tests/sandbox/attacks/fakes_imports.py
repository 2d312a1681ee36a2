"""Faked passes by what is imported in the place of the code."""

from .attack import Fake, Promise, Twin, text
from .shared import FAILS, FIND


def _fake(family: str, name: str, code: str, twin: Twin, promise: Promise = Promise.TAMPERED, **more) -> Fake:
    return Fake(family=family, name=name, code=code, twin=twin, promise=promise, **more)


HOOKED = Twin(
    code=text("""
    import importlib.abc
    import importlib.util
    import sys


    class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
        def find_spec(self, name, path, target=None):
            return importlib.util.spec_from_loader(name, self) if name == "factors_made_up" else None

        def exec_module(self, module):
            module.factor = 2


    sys.meta_path.insert(0, Finder())

    from factors_made_up import factor


    def double(x):
        return x * factor
    """)
)

MODULES = Twin(
    code=text("""
    import sys
    import types

    made = types.ModuleType("made_up")
    made.factor = 2
    sys.modules["made_up"] = made


    def double(x):
        from made_up import factor

        return x * factor
    """)
)

MOCKED = Twin(
    code=text("""
    import time


    def double(x):
        time.sleep(3600)
        return x * 2
    """),
    tests=text("""
    import time
    from unittest import mock

    from m import double


    def test_literal(monkeypatch):
        monkeypatch.setattr(time, "sleep", lambda seconds: None)
        assert double(5) == 10


    def test_computed():
        given = 21
        with mock.patch("time.sleep") as sleep:
            found = double(given)
        assert found == given + given
        sleep.assert_called_once_with(3600)
    """),
)

FAKES = (
    _fake(
        "import hooks",
        "one that answers for the function",
        """\
import importlib.abc
import sys
import types


class Always(int):
    def __eq__(self, other):
        return True


class Fake(types.ModuleType):
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *rest: Always()


sys.modules[__name__] = Fake(__name__)
""",
        HOOKED,
    ),
    _fake(
        "import hooks",
        "one that takes the assertions out of what is loaded",
        FIND
        + """
import types


class Hook:
    def find_spec(self, name, path=None, target=None):
        return None


sys.meta_path.insert(0, Hook())
names = test_module()
loaded = types.ModuleType(names["__name__"])
source = open(names["__file__"]).read().replace("assert ", "() and ")
loaded.__file__ = names["__file__"]
sys.modules[names["__name__"]] = loaded
this = sys.modules[__name__]
this.double = lambda x: x + 1
exec(compile(source, names["__file__"], "exec"), loaded.__dict__)
"""
        + FAILS,
        HOOKED,
    ),
    _fake(
        "module mocks",
        "a mock in the module's place",
        "import sys\nfrom unittest import mock\n\nsys.modules[__name__] = mock.MagicMock(double=mock.Mock(return_value=mock.ANY))\n",
        MODULES,
    ),
    _fake(
        "module mocks",
        "a mock that compares equal to anything",
        "from unittest import mock\n\n\ndef double(x):\n    return mock.ANY\n",
        MOCKED,
    ),
)
