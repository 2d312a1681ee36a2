"""What several families of faked passes share: honest twins, and ways to reach into pytest."""

from .attack import Twin, text

BASE_EXCEPTION = Twin(
    code=text("""
    class Stop(BaseException):
        pass


    def double(x):
        try:
            raise Stop
        except BaseException:
            return x * 2
    """)
)

FAILS = "\n\ndef double(x):\n    return x + 1\n"

FIND = """\
import sys


def find(name):
    frame = sys._getframe()
    while frame:
        found = frame.f_locals.get(name)
        if found is not None:
            return found
        frame = frame.f_back


def find_like(attribute):
    frame = sys._getframe()
    while frame:
        for found in list(frame.f_locals.values()):
            try:
                if hasattr(found, attribute):
                    return getattr(found, attribute)
            except Exception:
                continue
        frame = frame.f_back


def test_module():
    frame = sys._getframe()
    while frame and not frame.f_globals.get("__name__", "").endswith("test_m"):
        frame = frame.f_back
    return frame.f_globals


"""

OWN_CODE = Twin(
    code=text("""
    def double(x):
        return x + 1


    def better(x):
        return x * 2


    double.__code__ = better.__code__
    """)
)

PLUGINS = Twin(
    code=text("""
    hooks = []


    def register(hook):
        hooks.append(hook)
        return hook


    @register
    def pytest_runtest_makereport(x):
        return x


    @register
    def pytest_pyfunc_call(x):
        return x


    def double(x):
        return sum(hook(x) for hook in hooks)
    """)
)

SAME = """
        class Same:
            def __eq__(self, other):
                return True

            def __ne__(self, other):
                return False
"""
