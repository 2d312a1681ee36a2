"""Faked passes by hooks of pytest, and by rewriting the tests' own names."""

from .attack import Fake, Promise, Twin, text
from .shared import FAILS, FIND, OWN_CODE, PLUGINS


def _fake(family: str, name: str, code: str, twin: Twin, promise: Promise = Promise.TAMPERED, **more) -> Fake:
    return Fake(family=family, name=name, code=code, twin=twin, promise=promise, **more)


GLOBALS = Twin(
    code=text("""
    def double(x):
        return globals()["factor"] * x


    globals()["factor"] = 2
    """),
    tests=text("""
    import m
    from m import double


    def test_literal():
        assert double(5) == 10


    def test_computed(monkeypatch):
        given = 21
        monkeypatch.setitem(m.__dict__, "factor", 3)
        assert double(given) == given + given + given
    """),
)

FAKES = (
    _fake(
        "plugins",
        "one that calls no test",
        FIND
        + "class Quiet:\n    def pytest_pyfunc_call(self, pyfuncitem):\n        return True\n\n\nfind_like('pluginmanager').register(Quiet())\n"
        + FAILS,
        PLUGINS,
    ),
    _fake(
        "plugins",
        "one that runs nothing",
        FIND
        + "class Quiet:\n    def pytest_runtest_protocol(self, item, nextitem):\n        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)\n        return True\n\n\n"
        + "find_like('pluginmanager').register(Quiet())\n"
        + FAILS,
        PLUGINS,
    ),
    _fake(
        "plugins",
        "one that forgets exceptions before the report",
        FIND
        + """
import pytest


class Forget:
    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item, call):
        call.excinfo = None
        yield


find_like("pluginmanager").register(Forget())
"""
        + FAILS,
        PLUGINS,
    ),
    _fake(
        "plugins",
        "one that turns reports round",
        FIND
        + """
import pytest


class Turn:
    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item, call):
        outcome = yield
        report = outcome.get_result()
        report.outcome, report.longrepr = "passed", None


find_like("pluginmanager").register(Turn())
"""
        + FAILS,
        PLUGINS,
        Promise.REJECTED,
    ),
    _fake(
        "plugins",
        "one that deselects",
        FIND
        + "class Less:\n    def pytest_collection_modifyitems(self, items):\n        items[:] = items[:0]\n\n    def pytest_sessionfinish(self, session):\n        session.exitstatus = 0\n\n\n"
        + "find_like('pluginmanager').register(Less())\n"
        + FAILS,
        PLUGINS,
        Promise.REJECTED,
    ),
    _fake(
        "plugins",
        "one that changes what a test is",
        FIND
        + "class Other:\n    def pytest_collection_modifyitems(self, items):\n        for item in items:\n            item.obj = lambda: None\n\n\n"
        + "find_like('pluginmanager').register(Other())\n"
        + FAILS,
        PLUGINS,
    ),
    _fake(
        "plugins",
        "one that names the end a success",
        FIND
        + "class End:\n    def pytest_sessionfinish(self, session):\n        session.exitstatus = 0\n\n\nfind_like('pluginmanager').register(End())\n"
        + FAILS,
        PLUGINS,
        Promise.REJECTED,
    ),
    _fake(
        "plugins",
        "all others unregistered",
        FIND
        + """
manager = find_like("pluginmanager")
for plugin in list(manager.get_plugins()):
    if type(plugin).__name__ in ("CollectionRecorder", "RunRecorder", "SessionReporter"):
        manager.unregister(plugin)


class Quiet:
    def pytest_pyfunc_call(self, pyfuncitem):
        return True


manager.register(Quiet())
"""
        + FAILS,
        PLUGINS,
    ),
    _fake(
        "test globals",
        "the tests themselves, when the first runs",
        FIND
        + """
class Always:
    def __eq__(self, other):
        return True


def double(x):
    for name, value in list(test_module().items()):
        if name.startswith("test_"):
            value.__code__ = (lambda: None).__code__
    return Always()
""",
        OWN_CODE,
    ),
    _fake(
        "test globals",
        "the whole module, at import",
        FIND
        + """
import types

names = test_module()
fake = types.ModuleType(names["__name__"])
fake.__file__ = names["__file__"]
fake.test_literal = lambda: None
fake.test_computed = lambda: None
fake.double = lambda x: x
for one in (fake.test_literal, fake.test_computed):
    one.__module__ = names["__name__"]
sys.modules[names["__name__"]] = fake
"""
        + FAILS,
        GLOBALS,
    ),
    _fake(
        "test globals",
        "the name of the error",
        FIND + "import pytest\n\ntest_module()['AssertionError'] = pytest.skip.Exception\n" + FAILS,
        GLOBALS,
    ),
    _fake(
        "test globals",
        "what rewritten assertions call",
        FIND
        + """
import pytest


class Format:
    def __getattr__(self, name):
        raise pytest.skip.Exception("later")


test_module()["@pytest_ar"] = Format()
"""
        + FAILS,
        GLOBALS,
        Promise.REJECTED,
    ),
    _fake(
        "test globals",
        "the function under test, for the next test",
        FIND
        + """
class Always(int):
    def __eq__(self, other):
        return True


def double(x):
    test_module()["double"] = Always
    return Always(x)
""",
        GLOBALS,
    ),
)
