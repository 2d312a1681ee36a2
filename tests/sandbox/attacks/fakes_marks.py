"""Faked passes by tests that do not count: skipped, or expected to fail."""

from .attack import Fake, Promise, Twin, text
from .shared import BASE_EXCEPTION


def _fake(family: str, name: str, code: str, twin: Twin, promise: Promise = Promise.TAMPERED, **more) -> Fake:
    return Fake(family=family, name=name, code=text(code), twin=twin, promise=promise, **more)


SKIPS = Twin(
    code=text("""
    class Skipped(Exception):
        pass


    def skip(reason):
        raise Skipped(reason)


    def double(x):
        try:
            skip("no need")
        except Skipped:
            return x * 2
    """),
    tests=text("""
    import pytest

    from m import double

    json = pytest.importorskip("json")


    def test_literal():
        assert double(5) == 10


    @pytest.mark.skipif(json is None, reason="needs json")
    def test_computed():
        given = 21
        assert double(given) == given + given
    """),
)

FAKES = (
    _fake("skips", "in the test", "import pytest\n\n\ndef double(x):\n    pytest.skip('later')\n", SKIPS),
    _fake(
        "skips",
        "as unittest does",
        "import unittest\n\n\ndef double(x):\n    raise unittest.SkipTest('later')\n",
        SKIPS,
    ),
    _fake(
        "skips",
        "the whole file",
        "import pytest\n\npytest.skip('later', allow_module_level=True)\n",
        SKIPS,
        Promise.REJECTED,
    ),
    _fake(
        "skips",
        "by a package that is missing",
        "import pytest\n\n\ndef double(x):\n    pytest.importorskip('no_such_package')\n",
        SKIPS,
    ),
    _fake(
        "skips",
        "by a mark put on the file",
        """
        import sys

        import pytest

        frame = sys._getframe()
        while frame and not frame.f_globals.get("__name__", "").endswith("test_m"):
            frame = frame.f_back
        frame.f_globals["pytestmark"] = pytest.mark.skip(reason="later")


        def double(x):
            return x + 1
        """,
        SKIPS,
    ),
    _fake(
        "expected failures",
        "in the test",
        "import pytest\n\n\ndef double(x):\n    pytest.xfail('known')\n",
        BASE_EXCEPTION,
    ),
    _fake(
        "expected failures",
        "by a mark put on the file",
        """
        import sys

        import pytest

        frame = sys._getframe()
        while frame and not frame.f_globals.get("__name__", "").endswith("test_m"):
            frame = frame.f_back
        frame.f_globals["pytestmark"] = pytest.mark.xfail


        def double(x):
            return x + 1
        """,
        SKIPS,
    ),
    _fake(
        "expected failures",
        "by a mark put on the test that runs",
        """
        import sys

        import pytest


        def double(x):
            frame = sys._getframe()
            while frame:
                item = frame.f_locals.get("item") or frame.f_locals.get("pyfuncitem")
                if item is not None and hasattr(item, "add_marker"):
                    item.add_marker(pytest.mark.xfail)
                    break
                frame = frame.f_back
            return x + 1
        """,
        BASE_EXCEPTION,
    ),
    _fake(
        "expected failures",
        "an error that is called one",
        """
        import builtins

        import pytest

        builtins.AssertionError = pytest.xfail.Exception


        def double(x):
            return x + 1
        """,
        BASE_EXCEPTION,
    ),
)
