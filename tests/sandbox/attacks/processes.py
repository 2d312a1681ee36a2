"""Processes and threads: too many of them, ones that flee, and signals to those of others."""

from .attack import Attack

_ALIVE = """
def others():
    import os
    running = lambda name: ') Z ' not in open(f'/proc/{name}/stat').read()
    return [int(name) for name in os.listdir('/proc') if name.isdigit() and running(name)]
"""
# In the next run: is one still there that carries the name?
_LEFT = """
import os
for name in os.listdir('/proc'):
    if name.isdigit():
        try:
            found = open(f'/proc/{name}/comm').read() + open(f'/proc/{name}/cmdline').read()
        except OSError:
            continue
        if aim.token in found and name != str(os.getpid()): break
else:
    raise aim.Missed
"""
_NAMED = "open('/proc/self/comm', 'w').write(aim.token)\n"


def _processes(name: str, code: str, **more) -> Attack:
    return Attack(family="processes", name=name, code=code, **more)


def _daemon(name: str, code: str) -> Attack:
    return Attack(family="daemons", name=name, code=code, after=_LEFT)


ATTACKS = (
    _processes(
        "many children",
        """
        import os, time
        children = []
        for _ in range(aim.processes):
            child = os.fork()
            if child == 0:
                time.sleep(20)
                os._exit(0)
            children.append(child)
        time.sleep(0.3)
        for child in children: os.kill(child, 9)
        """,
    ),
    _processes(
        "fork bomb",
        """
        import os, time
        ready, tell = os.pipe()
        parent, end = os.getpid(), time.monotonic() + 3
        for _ in range(7):  # two to the seventh, each of them forking on
            try:
                os.fork()
            except OSError:
                pass
        if os.getpid() != parent:
            os.write(tell, b'1')
            time.sleep(3)
            os._exit(0)
        os.set_blocking(ready, False)
        born = 0
        while born < aim.processes:
            if time.monotonic() > end: raise aim.Missed
            try:
                born += len(os.read(ready, 4096))
            except BlockingIOError:
                time.sleep(0.01)
        """,
    ),
    _processes(
        "many started programs",
        "import subprocess, time\n"
        "started = [subprocess.Popen(['sleep', '20']) for _ in range(aim.processes)]\n"
        "time.sleep(0.3)\nassert all(one.poll() is None for one in started)\nfor one in started: one.kill()\n",
    ),
    _processes(
        "many threads",
        "import threading, time\nstop = threading.Event()\n"
        "started = [threading.Thread(target=stop.wait, args=(20,), daemon=True) for _ in range(aim.processes)]\n"
        "for one in started: one.start()\ntime.sleep(0.3)\nstop.set()\n",
    ),
    _processes(
        "zombies",
        """
        import os, time
        for _ in range(aim.processes * 4):
            if os.fork() == 0: os._exit(0)
        time.sleep(0.3)
        """,
    ),
    _processes(
        "kill everything",
        _ALIVE
        + """
import os, time
before = [pid for pid in others() if pid not in (1, os.getpid(), os.getppid())]
if not before: raise aim.Missed
os.kill(-1, 9)
time.sleep(0.2)
if set(before) <= set(others()): raise aim.Missed
""",
    ),
    _processes(
        "kill the parent",
        _ALIVE
        + """
import os, time
victims = [pid for pid in others() if pid not in (1, os.getpid())]
if not victims: raise aim.Missed
for pid in victims: os.kill(pid, 9)
""",
    ),
    _processes(
        "a process of the host by its number",
        "if open(f'/proc/{aim.bystander}/comm').read().strip() != 'sleep': raise aim.Missed\n",
        tame=True,
    ),
    _daemon(
        "daemon that holds the pipes",
        "import os, time\nif os.fork() == 0:\n    " + _NAMED + "    os.setsid()\n    time.sleep(60)\n    os._exit(0)\n",
    ),
    _daemon(
        "daemon that closed everything",
        "import os, time\nif os.fork() == 0:\n    "
        + _NAMED
        + "    os.setsid()\n    os.closerange(0, 256)\n    time.sleep(60)\n    os._exit(0)\n",
    ),
    _daemon(
        "daemon by double fork",
        "import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        "
        + _NAMED
        + "        os.chdir('/')\n        time.sleep(60)\n    os._exit(0)\nos.wait()\n",
    ),
    _daemon(
        "daemon that ignores signals",
        "import os, signal, time\nif os.fork() == 0:\n    "
        + _NAMED
        + "    os.setsid()\n    for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}: signal.signal(number, signal.SIG_IGN)\n"
        + "    time.sleep(60)\n    os._exit(0)\n",
    ),
    _daemon(
        "started program in a session of its own",
        "import subprocess, sys\nsubprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)', aim.token], start_new_session=True)\n",
    ),
    _daemon(
        "process that forks away from its killer",
        """
        import os, time
        if os.fork() == 0:
            open('/proc/self/comm', 'w').write(aim.token)
            os.setsid()
            end = time.monotonic() + 20
            while time.monotonic() < end:  # a new process each time, the old one gone
                try:
                    if os.fork(): os._exit(0)
                except OSError:
                    pass
                time.sleep(0.0005)
            os._exit(0)
        """,
    ),
    _daemon(
        "daemon under a reaper of its own",
        """
        import ctypes, os, time
        if os.fork() == 0:
            ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
            open('/proc/self/comm', 'w').write(aim.token)
            os.setsid()
            if os.fork() == 0:
                if os.fork() == 0: time.sleep(60)
                os._exit(0)
            time.sleep(60)
            os._exit(0)
        """,
    ),
    _daemon(
        "stopped daemon",
        """
        import os, signal
        if os.fork() == 0:
            open('/proc/self/comm', 'w').write(aim.token)
            os.setsid()
            os.kill(os.getpid(), signal.SIGSTOP)
            os._exit(0)
        """,
    ),
    _daemon(
        "program started without fork",
        "import os\nos.posix_spawn('/bin/sh', ['sh', '-c', 'sleep 60; true', aim.token], {'PATH': '/bin:/usr/bin'})\n",
    ),
)
