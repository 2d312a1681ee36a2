"""Faked passes by an early end: of the process, of pytest, or of what comes after the tests."""

from .attack import Fake, Promise, Twin, text

_FAILS = "def double(x):\n    return x + 1\n"


def _fake(family: str, name: str, code: str, twin: Twin, promise: Promise = Promise.TAMPERED, **more) -> Fake:
    return Fake(family=family, name=name, code=text(code), twin=twin, promise=promise, **more)


CHILD = Twin(
    code=text("""
    import os


    def double(x):
        ready, tell = os.pipe()
        child = os.fork()
        if child == 0:
            os.write(tell, str(x * 2).encode())
            os._exit(0)
        os.waitpid(child, 0)
        return int(os.read(ready, 64))
    """)
)

PROGRAM = Twin(
    code=text("""
    import subprocess
    import sys


    def double(x):
        code = f"import sys; print({x} * 2); sys.exit(0)"
        return int(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout)
    """)
)

LEAVES = Twin(
    code=text("""
    import sys


    def double(x):
        if not isinstance(x, int):
            sys.exit("not a number")
        return x * 2
    """),
    tests=text("""
    import pytest

    from m import double


    def test_literal():
        with pytest.raises(SystemExit):
            double("five")
        assert double(5) == 10


    def test_computed():
        with pytest.raises(SystemExit) as caught:
            double(None)
        assert caught.value.code == "not a number"
    """),
)

AT_EXIT = Twin(
    code=text("""
    import atexit

    cache = {}
    atexit.register(cache.clear)


    def double(x):
        return cache.setdefault(x, x * 2)
    """)
)

THREAD = Twin(
    code=text("""
    import threading


    def double(x):
        found = []
        worker = threading.Thread(target=lambda: found.append(x * 2))
        worker.start()
        worker.join()
        return found[0]
    """)
)

ALARM = Twin(
    code=text("""
    import signal


    def double(x):
        def late(*_):
            raise TimeoutError

        before = signal.signal(signal.SIGALRM, late)
        signal.alarm(5)
        try:
            return x * 2
        finally:
            signal.alarm(0)
            signal.signal(signal.SIGALRM, before)
    """)
)

DESTRUCTOR = Twin(
    code=text("""
    class Held:
        opened = 0

        def __init__(self):
            Held.opened += 1

        def __del__(self):
            Held.opened -= 1


    kept = Held()


    def double(x):
        Held()
        return x * 2 * Held.opened
    """)
)

FAKES = (
    _fake("exits", "the process, in the test", "import os\n\n\ndef double(x):\n    os._exit(0)\n", CHILD),
    _fake("exits", "the process, at import", "import os\n\nos._exit(0)\n", CHILD),
    _fake(
        "exits",
        "pytest, by its own exit",
        "import pytest\n\n\ndef double(x):\n    pytest.exit('done', returncode=0)\n",
        LEAVES,
    ),
    _fake(
        "exits",
        "another program in its place",
        "import os\n\n\ndef double(x):\n    os.execv('/bin/true', ['true'])\n",
        PROGRAM,
    ),
    _fake(
        "exits",
        "the parent leaves, the child goes on",
        "import os\n\n\ndef double(x):\n    if os.fork():\n        os._exit(0)\n    return x + 1\n",
        CHILD,
    ),
    _fake(
        "exits",
        "by a signal's handler",
        """
        import os
        import signal
        import time


        def double(x):
            signal.signal(signal.SIGALRM, lambda *_: os._exit(0))
            signal.setitimer(signal.ITIMER_REAL, 0.01)
            time.sleep(5)
        """,
        ALARM,
    ),
    _fake(
        "exits",
        "by a thread",
        """
        import os
        import threading
        import time


        def double(x):
            threading.Thread(target=os._exit, args=(0,)).start()
            time.sleep(5)
        """,
        THREAD,
    ),
    _fake(
        "exits",
        "system exit with status 0 as an exit of pytest",
        """
        import pytest


        def double(x):
            raise pytest.exit.Exception("enough", 0)
        """,
        LEAVES,
    ),
    _fake(
        "at exit",
        "a registered function",
        "import atexit\nimport os\n\natexit.register(os._exit, 0)\n\n\n" + _FAILS,
        AT_EXIT,
        Promise.REJECTED,
    ),
    _fake(
        "at exit",
        "a registered function of the threads",
        "import os\nimport threading\n\nthreading._register_atexit(os._exit, 0)\n\n\n" + _FAILS,
        AT_EXIT,
        Promise.REJECTED,
    ),
    _fake(
        "at exit",
        "a destructor",
        "import os\nimport sys\n\n\nclass Last:\n    def __del__(self, leave=os._exit):\n        leave(0)\n\n\nsys.last = Last()\n\n\n"
        + _FAILS,
        DESTRUCTOR,
        Promise.REJECTED,
    ),
    _fake(
        "at exit",
        "the status of the session",
        """
        import sys


        def double(x):
            frame = sys._getframe()
            while frame:
                session = frame.f_locals.get("session")
                if session is not None and hasattr(session, "testsfailed"):
                    type(session).testsfailed = property(lambda self: 0, lambda self, value: None)
                    break
                frame = frame.f_back
            return x + 1
        """,
        AT_EXIT,
        Promise.REJECTED,
    ),
)
