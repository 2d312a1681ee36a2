"""Faked passes by walking frames, closures and descriptors to whoever reports."""

from .attack import Fake, Promise, Twin, text
from .shared import FAILS, FIND


def _fake(family: str, name: str, code: str, twin: Twin, promise: Promise = Promise.TAMPERED, **more) -> Fake:
    return Fake(family=family, name=name, code=code, twin=twin, promise=promise, **more)


FRAMES = Twin(
    code=text("""
    import sys


    def caller():
        return sys._getframe(2).f_code.co_name


    def double(x):
        assert caller().startswith("test_")
        return x * 2
    """),
    verified=False,
)

GARBAGE = Twin(
    code=text("""
    import gc


    class Half:
        def __init__(self, x):
            self.x = x


    def double(x):
        held = [Half(x), Half(x)]
        gc.collect()
        return sum(one.x for one in gc.get_objects() if type(one) is Half and one in held)
    """)
)

CLOSURES = Twin(
    code=text("""
    def doubler():
        state = {"factor": 2}

        def double(x):
            return x * state["factor"]

        return double


    double = doubler()
    assert double.__closure__[0].cell_contents == {"factor": 2}
    """)
)

DESCRIPTORS = Twin(
    code=text("""
    import os


    def double(x):
        keep = os.dup(1)
        ready, tell = os.pipe()
        os.dup2(tell, 1)
        os.write(1, b"." * x * 2)
        os.dup2(keep, 1)
        for number in (tell, keep):
            os.close(number)
        return len(os.read(ready, 4096))
    """)
)

TRACES = Twin(
    code=text("""
    import sys


    def double(x):
        seen = []
        before = sys.gettrace()
        sys.settrace(lambda frame, event, arg: seen.append(event))
        try:
            inner(x)
        finally:
            sys.settrace(before)
        return x * (1 + len(seen))


    def inner(x):
        return x
    """)
)

_SEND = (
    FIND
    + """
def sender():
    manager = find_like("pluginmanager")
    for plugin in manager.get_plugins():
        for name in dir(plugin):
            function = getattr(getattr(plugin, name, None), "__func__", None)
            for cell in getattr(function, "__closure__", None) or ():
                try:
                    found = cell.cell_contents
                except ValueError:
                    continue
                if getattr(found, "__name__", "") == "send":
                    return found
    return None


"""
)

FAKES = (
    _fake(
        "frames and closures",
        "the sender, found by the plugins",
        _SEND
        + """
import os


def double(x):
    send, item = sender(), find("item") or find("pyfuncitem")
    if send is not None:
        cases = [one.nodeid for one in item.session.items]
        for case in cases:
            for when in ("setup", "call", "teardown")[case == item.nodeid :]:
                send({"kind": "phase", "id": case, "when": when, "seconds": 0.1, "type": None, "outcome": "passed", "wasxfail": None})
        send({"kind": "finished", "status": 0})
    os._exit(0)
""",
        CLOSURES,
    ),
    _fake(
        "frames and closures",
        "the sender, found by the collector of garbage",
        FIND
        + """
import gc
import os
import types


def double(x):
    item = find("item") or find("pyfuncitem")
    for one in gc.get_objects():
        if isinstance(one, types.FunctionType) and one.__qualname__ == "_make_sender.<locals>.send":
            for case in [each.nodeid for each in item.session.items]:
                for when in ("setup", "call", "teardown")[case == item.nodeid :]:
                    one({"kind": "phase", "id": case, "when": when, "seconds": 0.1, "type": None, "outcome": "passed", "wasxfail": None})
            one({"kind": "finished", "status": 0})
    os._exit(0)
""",
        GARBAGE,
    ),
    _fake(
        "frames and closures",
        "the key, and lines signed with it",
        FIND
        + """
import gc
import os
import types


def double(x):
    for one in gc.get_objects():
        if isinstance(one, types.FunctionType) and one.__qualname__ == "_make_sender.<locals>.send":
            cells = dict(zip(one.__code__.co_freevars, one.__closure__))
            key, sign, report = (cells[name].cell_contents for name in ("key", "sign", "report"))
            body = b'{"kind": "finished", "status": 0, "seq": %d}' % cells["state"].cell_contents["seq"]
            os.write(report, sign(body, key) + b" " + body + b"\\n")
    os._exit(0)
""",
        GARBAGE,
    ),
    _fake(
        "frames and closures",
        "the recorder's code",
        FIND
        + """
def quiet(self, item, call):
    call.excinfo = None
    outcome = yield
    return outcome


manager = find_like("pluginmanager")
for plugin in manager.get_plugins():
    method = getattr(type(plugin), "pytest_runtest_call", None)
    if plugin.__class__.__name__ == "module" and plugin.__name__ == "_pytest.runner" or getattr(plugin, "__name__", "") == "_pytest.runner":
        plugin.pytest_runtest_call.__code__ = (lambda item: None).__code__
"""
        + FAILS,
        FRAMES,
    ),
    _fake(
        "frames and closures",
        "the caller's frame, to leave the test",
        """\
import sys


def double(x):
    frame = sys._getframe(1)
    seen = []

    def leave(frame, event, arg):
        seen.append(event)
        raise KeyboardInterrupt if len(seen) > 99 else StopIteration

    names = frame.f_globals
    for name in [name for name in names if name.startswith("test_")]:
        names[name].__code__ = (lambda: None).__code__
    return type("Same", (), {"__eq__": lambda self, other: True})()
""",
        FRAMES,
    ),
    _fake(
        "frames and closures",
        "a tracer that jumps over the assertion",
        """\
import sys


def double(x):
    caller = sys._getframe(1)

    def jump(frame, event, arg):
        return None

    class Same:
        def __eq__(self, other):
            return True

    caller.f_trace = jump
    sys.settrace(lambda *_: None)
    return Same()
""",
        TRACES,
    ),
    _fake(
        "descriptors",
        "records on every open one",
        """\
import json
import os

for number in range(3, 64):
    for seq in range(8):
        record = {"kind": "phase", "id": "test_m.py::test_literal", "when": "call", "outcome": "passed", "type": None, "seq": seq}
        try:
            os.write(number, b"0" * 32 + b" " + json.dumps(record).encode() + b"\\n")
        except OSError:
            break


def double(x):
    os._exit(0)
""",
        DESCRIPTORS,
    ),
    _fake(
        "descriptors",
        "the report closed and the end called good",
        "import os\n\n\ndef double(x):\n    os.closerange(3, 256)\n    os._exit(0)\n",
        DESCRIPTORS,
    ),
    _fake(
        "descriptors",
        "a report of its own in the place of the pipe",
        "import os\n\nready, tell = os.pipe()\nfor number in range(3, 64):\n    if number not in (ready, tell):\n        try:\n            os.fstat(number)\n            os.dup2(tell, number)\n        except OSError:\n            pass\n\n\ndef double(x):\n    os._exit(0)\n",
        DESCRIPTORS,
    ),
    _fake(
        "descriptors",
        "what a summary looks like",
        "import os\n\n\ndef double(x):\n    os.write(1, b'\\n.. [100%]\\n2 passed in 0.01s\\n')\n    os._exit(0)\n",
        DESCRIPTORS,
    ),
)
