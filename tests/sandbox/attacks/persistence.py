"""Into the next run: whatever is planted in one run is looked for in the next one of the same session."""

from .attack import Attack


def _persist(name: str, code: str, after: str, **more) -> Attack:
    return Attack(family="persistence", name=name, code=code, after=after, **more)


_LIBC = "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n"


def _file(name: str, path: str) -> Attack:
    """A file planted at the place that this expression names."""
    code = f"import os, site, sys\npath = {path}\nos.makedirs(os.path.dirname(path) or '.', exist_ok=True)\nopen(path, 'w').write('# planted')\n"
    return _persist(name, code, f"import os, site, sys\nif not os.path.exists({path}): raise aim.Missed\n")


ATTACKS = (
    _file("start file of the user's packages", "os.path.join(site.getusersitepackages(), 'x.pth')"),
    _persist(
        "start file beside the interpreter's packages",
        "import os, pytest\nopen(os.path.dirname(os.path.dirname(pytest.__file__)) + f'/{aim.token}.pth', 'w').close()\n",
        "import os, pytest\npath = os.path.dirname(os.path.dirname(pytest.__file__)) + f'/{aim.token}.pth'\n"
        "if not os.path.exists(path): raise aim.Missed\nos.remove(path)\n",
        root=True,
    ),
    _file("sitecustomize in the workspace", "'sitecustomize.py'"),
    _file("usercustomize in the user's packages", "os.path.join(site.getusersitepackages(), 'usercustomize.py')"),
    _file("module in the scratch folder", "'/tmp/json.py'"),
    _file("module that shadows the standard library", "'antigravity.py'"),
    _file(
        "module in the temporary folder of the run",
        "os.path.join(__import__('tempfile').gettempdir(), 'subprocess.py')",
    ),
    _file("file in shared memory", "'/dev/shm/' + aim.token"),
    _file("configuration of the tests", "'pyproject.toml'"),
    _file("settings in the home", "os.path.expanduser('~/.pypirc')"),
    _file("cache of pytest", "'.pytest_cache/v/cache/lastfailed'"),
    _persist(
        "conftest in the workspace",
        "open('conftest.py', 'w').write('import os\\nos.environ[\"PLANTED\"] = \"yes\"\\n')\n",
        "import os\nif 'PLANTED' not in os.environ: raise aim.Missed\n",
    ),
    _persist(
        "conftest above the workspace",
        "import os\nopen('../conftest.py', 'w').write('import os\\nos.environ[\"PLANTED\"] = \"yes\"\\n')\n",
        "import os\nif not os.path.exists('../conftest.py'): raise aim.Missed\n",
    ),
    _persist(
        "bytecode of the code under test",
        """
        import importlib.util, os, py_compile
        seen = os.stat('m.py')
        with open('/tmp/evil.py', 'w') as stream: stream.write('def double(x): return 77\\n'.ljust(seen.st_size)[:seen.st_size])
        os.utime('/tmp/evil.py', ns=(seen.st_atime_ns, seen.st_mtime_ns))
        target = importlib.util.cache_from_source('m.py')
        py_compile.compile('/tmp/evil.py', cfile=target, dfile='m.py', doraise=True)
        """,
        "import m\nif m.double(2) != 77: raise aim.Missed\n",
    ),
    _persist(
        "bytecode of pytest",
        """
        import importlib.util, os, _pytest.runner
        path = importlib.util.cache_from_source(_pytest.runner.__file__)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path + '.' + aim.token, 'w') as stream: stream.write('x')
        """,
        """
        import importlib.util, os, _pytest.runner
        path = importlib.util.cache_from_source(_pytest.runner.__file__) + '.' + aim.token
        if not os.path.exists(path): raise aim.Missed
        os.remove(path)
        """,
        root=True,
    ),
    _persist(
        "System V segment",
        _LIBC + "if libc.shmget(aim.key, 4096, 0o1666) < 0: raise OSError(ctypes.get_errno())\n",
        _LIBC + "if libc.shmget(aim.key, 4096, 0o666) < 0: raise aim.Missed\n",
    ),
    _persist(
        "System V semaphore",
        _LIBC + "if libc.semget(aim.key, 1, 0o1666) < 0: raise OSError(ctypes.get_errno())\n",
        _LIBC + "if libc.semget(aim.key, 1, 0o666) < 0: raise aim.Missed\n",
    ),
    _persist(
        "System V queue",
        _LIBC + "if libc.msgget(aim.key, 0o1666) < 0: raise OSError(ctypes.get_errno())\n",
        _LIBC + "if libc.msgget(aim.key, 0o666) < 0: raise aim.Missed\n",
    ),
    _persist(
        "queue with a name",
        _LIBC
        + "if libc.mq_open(b'/' + aim.token.encode(), 0o102, 0o666, None) < 0: raise OSError(ctypes.get_errno())\n",
        _LIBC + "if libc.mq_open(b'/' + aim.token.encode(), 0o2) < 0: raise aim.Missed\n",
    ),
    _persist(
        "semaphore with a name",
        "import _multiprocessing\n_multiprocessing.SemLock(1, 1, 1, '/' + aim.token, False)\n",
        "import os\nif not os.path.exists('/dev/shm/sem.' + aim.token): raise aim.Missed\n",
    ),
    _persist(
        "server behind an abstract socket",
        """
        import os, socket, time
        server = socket.socket(socket.AF_UNIX)
        server.bind(chr(0) + aim.token)
        server.listen()
        if os.fork() == 0:
            os.setsid()
            time.sleep(60)
            os._exit(0)
        """,
        "import socket\nsocket.socket(socket.AF_UNIX).connect(chr(0) + aim.token)\n",
    ),
    _persist(
        "server at a port",
        """
        import os, socket, time
        server = socket.create_server(('127.0.0.1', aim.free))
        if os.fork() == 0:
            os.setsid()
            time.sleep(60)
            os._exit(0)
        """,
        "import socket\nsocket.create_connection(('127.0.0.1', aim.free), 1)\n",
    ),
    _persist(
        "lock on the code",
        """
        import fcntl, os, time
        held = open('m.py')
        fcntl.flock(held, fcntl.LOCK_EX)
        if os.fork() == 0:
            os.setsid()
            time.sleep(60)
            os._exit(0)
        """,
        "import fcntl\ntry:\n    fcntl.flock(open('m.py'), fcntl.LOCK_EX | fcntl.LOCK_NB)\nexcept BlockingIOError:\n    pass\nelse:\n    raise aim.Missed\n",
    ),
    _persist(
        "key in the kernel",
        _LIBC
        + "if libc.syscall(248, b'user', aim.token.encode(), b'x', 1, ctypes.c_long(-4)) < 0: raise OSError(ctypes.get_errno())\n",
        _LIBC + "if libc.syscall(249, b'user', aim.token.encode(), None, ctypes.c_long(-4)) < 0: raise aim.Missed\n",
    ),
)
