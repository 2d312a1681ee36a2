"""The process that watches: its memory, its descriptors, its limits, and what it may have handed down."""

from .attack import Attack


def _parent(name: str, code: str, **more) -> Attack:
    return Attack(family="parent", name=name, code=code, **more)


_EVERY = (
    "import os\nfor pid in [name for name in os.listdir('/proc') if name.isdigit() and name != str(os.getpid())]:\n"
)

ATTACKS = (
    _parent(
        "attach as a debugger",
        "import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\n"
        "if libc.ptrace(16, os.getppid(), 0, 0): raise OSError(ctypes.get_errno(), 'ptrace')\n"
        "os.waitpid(os.getppid(), 0x40000000)\nlibc.ptrace(17, os.getppid(), 0, 0)\n",
    ),
    _parent(
        "seize as a debugger",
        "import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\n"
        "if libc.ptrace(0x4206, os.getppid(), 0, 0): raise OSError(ctypes.get_errno(), 'ptrace')\n",
    ),
    _parent(
        "read its memory",
        """
        import os
        with open(f'/proc/{os.getppid()}/maps') as maps:
            start = next(int(line.split('-')[0], 16) for line in maps if '[stack]' in line)
        with open(f'/proc/{os.getppid()}/mem', 'rb') as memory:
            memory.seek(start)
            memory.read(8)
        """,
    ),
    _parent("open its memory for writing", "import os\nopen(f'/proc/{os.getppid()}/mem', 'r+b').close()\n"),
    _parent(
        "copy its memory",
        """
        import ctypes, os
        libc = ctypes.CDLL(None, use_errno=True)
        here = ctypes.create_string_buffer(8)
        class Piece(ctypes.Structure):
            _fields_ = [('base', ctypes.c_void_p), ('length', ctypes.c_size_t)]
        local, remote = Piece(ctypes.addressof(here), 8), Piece(1, 8)
        libc.process_vm_readv(os.getppid(), ctypes.byref(local), 1, ctypes.byref(remote), 1, 0)
        if ctypes.get_errno() != 14: raise OSError(ctypes.get_errno(), 'not even a bad address')
        """,
    ),
    _parent(
        "read its environment", "import os\nif not open(f'/proc/{os.getppid()}/environ').read(): raise aim.Missed\n"
    ),
    _parent("list its descriptors", "import os\nif not os.listdir(f'/proc/{os.getppid()}/fd'): raise aim.Missed\n"),
    _parent(
        "take one of its descriptors",
        """
        import ctypes, os
        pidfd = os.pidfd_open(os.getppid())
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.syscall(438, pidfd, 0, 0) < 0: raise OSError(ctypes.get_errno(), 'pidfd_getfd')
        """,
    ),
    _parent(
        "its folder of the root", "import os\nif not os.listdir(f'/proc/{os.getppid()}/root/'): raise aim.Missed\n"
    ),
    _parent("its system calls", "import os\nopen(f'/proc/{os.getppid()}/syscall').read()\n"),
    _parent(
        "its chance with the memory killer",
        "import os\nopen(f'/proc/{os.getppid()}/oom_score_adj', 'w').write('1000')\n",
    ),
    _parent(
        "limits it hands to the next run",
        "import os, resource\nresource.prlimit(os.getppid(), resource.RLIMIT_NOFILE, (77, 77))\n",
        after="import resource\nif resource.getrlimit(resource.RLIMIT_NOFILE)[1] != 77: raise aim.Missed\n",
    ),
    _parent(
        "processor time it hands to the next run",
        "import os, resource\nresource.prlimit(os.getppid(), resource.RLIMIT_CPU, (60, 60))\n",
        after="import resource\nif resource.getrlimit(resource.RLIMIT_CPU)[1] != 60: raise aim.Missed\n",
    ),
    _parent(
        "niceness it hands to the next run",
        "import os\nos.setpriority(os.PRIO_PROCESS, os.getppid(), 19)\n",
        after="import os\nif os.getpriority(os.PRIO_PROCESS, 0) != 19: raise aim.Missed\n",
    ),
    _parent(
        "processors it hands to the next run",
        "import os\nif os.cpu_count() < 2: raise aim.Missed\n"
        "os.sched_setaffinity(os.getppid(), {max(os.sched_getaffinity(0))})\n",
        after="import os\nif len(os.sched_getaffinity(0)) != 1: raise aim.Missed\n",
    ),
    _parent(
        "a descriptor the host forgot to close",
        """
        import os
        for number in range(3, 256):
            try:
                aim.secret(os.pread(number, 4096, 0))
            except (OSError, aim.Missed): continue
            break
        else:
            raise aim.Missed
        """,
    ),
    _parent(
        "a descriptor of a folder, to leave by",
        """
        import os
        for number in range(3, 256):
            try:
                aim.secret(open(os.open(aim.secret_name, os.O_RDONLY, dir_fd=number), 'rb').read())
            except (OSError, aim.Missed): continue
            break
        else:
            raise aim.Missed
        """,
    ),
    _parent(
        "memory of any other process",
        _EVERY + "    open(f'/proc/{pid}/mem', 'rb').close()\n    break\nelse:\n    raise aim.Missed\n",
    ),
    _parent(
        "command line of the host's processes",
        _EVERY + "    if aim.host_command in open(f'/proc/{pid}/cmdline').read(): break\nelse:\n    raise aim.Missed\n",
        tame=True,
    ),
)
