"""Time: programs that want more of it than a run is given."""

from .attack import Attack

# Whoever still runs after that many seconds has won; the sandbox's limit is far below.
_LATER = "import time\nend = time.monotonic() + aim.seconds\n"


def _cpu(name: str, code: str, **more) -> Attack:
    return Attack(family="cpu", name=name, code=code, seconds=1.0, **more)


ATTACKS = (
    _cpu("endless loop", _LATER + "while time.monotonic() < end: pass\n"),
    _cpu(
        "loop in C that holds the interpreter lock",
        "for _ in range(int(aim.seconds * 40)):\n    sum(range(2_000_000))\n",
    ),
    _cpu(
        "catastrophic regular expression",
        "import re\nre.match(r'(a+)+$', 'a' * (30 if aim.seconds > 1 else 18) + 'b')\n",
    ),
    _cpu("huge power", "str(len(bin(7 ** (30_000_000 if aim.seconds > 1 else 300_000))))\n"),
    _cpu("sleep", "import time\ntime.sleep(aim.seconds)\n"),
    _cpu(
        "ignored signals",
        _LATER
        + "import faulthandler, signal\nfaulthandler.disable()\n"
        + "for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:\n    signal.signal(number, signal.SIG_IGN)\n"
        + "while time.monotonic() < end: pass\n",
    ),
    _cpu(
        "blocked signals",
        _LATER
        + "import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, set(signal.Signals))\n"
        + "while time.monotonic() < end: pass\n",
    ),
    _cpu(
        "every exception caught",
        _LATER
        + "import signal\ndef again(*_): raise KeyboardInterrupt\n"
        + "for number in (signal.SIGABRT, signal.SIGTERM, signal.SIGINT): signal.signal(number, again)\n"
        + "while time.monotonic() < end:\n    try:\n        time.sleep(0.01)\n    except BaseException: pass\n",
    ),
    _cpu(
        "loops in many processes",
        _LATER
        + "import os\nchildren = []\nfor _ in range(8):\n    child = os.fork()\n"
        + "    if child == 0:\n        while time.monotonic() < end: pass\n        os._exit(0)\n    children.append(child)\n"
        + "for child in children: os.waitpid(child, 0)\n",
    ),
    _cpu(
        "stopped process",
        "import os, signal, time\nme = os.getpid()\nif os.fork() == 0:\n    time.sleep(aim.seconds)\n"
        "    os.kill(me, signal.SIGCONT)\n    os._exit(0)\nos.kill(me, signal.SIGSTOP)\n",
    ),
    _cpu(
        "waiting for a thread that never ends",
        "import threading\nlock = threading.Lock()\nlock.acquire()\n"
        "threading.Timer(aim.seconds, lock.release).start()\nwaiter = threading.Thread(target=lock.acquire)\n"
        "waiter.start()\nwaiter.join()\n",
    ),
    _cpu(
        "another session, left with the work",
        _LATER
        + "import os\nchild = os.fork()\nif child == 0:\n    os.setsid()\n    while time.monotonic() < end: pass\n    os._exit(0)\n"
        + "os.waitpid(child, 0)\n",
    ),
)
