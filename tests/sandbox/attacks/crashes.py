"""Ends that nobody planned: the interpreter dies, runs out of stack, or breaks whoever reports the failure."""

from .attack import Attack, Wins


def _crash(name: str, code: str, **more) -> Attack:
    return Attack(family="crashes", name=name, code=code, wins=Wins.BREAKS, **more)


def _recursion(name: str, code: str, **more) -> Attack:
    return Attack(family="recursion", name=name, code=code, wins=Wins.BREAKS, **more)


def _failure(name: str, code: str, **more) -> Attack:
    return Attack(family="hostile failures", name=name, code=code, wins=Wins.BREAKS, **more)


ATTACKS = (
    _crash("read at address zero", "import ctypes\nctypes.string_at(0)\n"),
    _crash("write into the code", "import ctypes\nctypes.memset(id(None), 255, 64)\nNone.x\n"),
    _crash("abort", "import os\nos.abort()\n"),
    _crash("kill itself", "import os\nos.kill(os.getpid(), 9)\n"),
    _crash("illegal instruction", "import os, signal\nos.kill(os.getpid(), signal.SIGILL)\n"),
    _crash("interrupt", "raise KeyboardInterrupt\n"),
    _crash("leave in the middle", "import os\nos._exit(3)\n"),
    _crash("become another program", "import os\nos.execv('/bin/sh', ['sh', '-c', 'exit 7'])\n"),
    _crash("close every descriptor", "import os\nos.closerange(0, 1024)\nos._exit(9)\n"),
    _recursion(
        "without a limit",
        "import sys\nsys.setrecursionlimit(10 ** 9)\nimport ctypes\n"
        "callback = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)\ndef down(n): return again(n)\nagain = callback(down)\nagain(1)\n",
    ),
    _recursion(
        "in a destructor's chain",
        "import sys\nsys.setrecursionlimit(10 ** 9)\nclass Link:\n    def __init__(self, held): self.held = held\n"
        "    def __repr__(self): return repr(self.held)\nlink = None\nfor _ in range(500_000): link = Link(link)\nrepr(link)\n",
    ),
    _failure(
        "exception that cannot be shown",
        "import os\nclass Evil(Exception):\n    def __str__(self): os._exit(5)\n    __repr__ = __str__\nraise Evil\n",
    ),
    _failure(
        "message that takes for ever",
        "import time\nclass Slow(Exception):\n    def __str__(self): time.sleep(60)\nraise Slow\n",
        seconds=1.0,
    ),
    _failure(
        "value whose picture is the end",
        "import os\nclass Last:\n    def __repr__(self): os.abort()\nraise ValueError(Last())\n",
    ),
    _failure(
        "exception whose cause is itself an exit",
        "import os\nclass Evil(Exception):\n    @property\n    def __traceback__(self): os._exit(6)\n    @property\n    def __cause__(self): os._exit(6)\nraise Evil\n",
    ),
)
