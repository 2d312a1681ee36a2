"""More rights: other users, capabilities, namespaces, the kernel's rarer doors, and what is in the environment."""

from .attack import Attack

_LIBC = "import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\n"


def _rights(name: str, code: str, **more) -> Attack:
    return Attack(family="rights", name=name, code=code, **more)


def _call(name: str, call: str, *, family: str = "kernel calls", refused: str = "(1, 38)", **more) -> Attack:
    """A system call with arguments that do no harm: anything but a refusal is a win."""
    code = _LIBC + f"if {call} < 0 and ctypes.get_errno() in {refused}: raise OSError(ctypes.get_errno(), 'refused')\n"
    return Attack(family=family, name=name, code=code, **more)


def _child(name: str, code: str, *, family: str = "rights", **more) -> Attack:
    """In a process of its own, for the tests could not go on after it."""
    code = f"""
import os, resource
child = os.fork()
if child == 0:
    try:
        {code}
    except BaseException:
        os._exit(1)
    os._exit(0)
if os.waitpid(child, 0)[1]: raise aim.Missed
"""
    return Attack(family=family, name=name, code=code, **more)


def _environment(name: str, code: str, **more) -> Attack:
    return Attack(family="environment", name=name, code=code, **more)


ATTACKS = (
    _rights(
        "become root",
        "import os\nos.setuid(0)\nif os.getuid() or open('/proc/self/uid_map').read().split()[1] != '0': raise aim.Missed\n",
        root=True,
    ),
    _child("become another user", "os.setresuid(12345, 12345, 12345)", root=True),
    _child("join another group", "os.setgroups([0])", root=True),
    _rights(
        "own a capability",
        "lines = dict(line.split(':', 1) for line in open('/proc/self/status'))\nif not int(lines['CapEff'], 16): raise aim.Missed\n",
        root=True,
    ),
    _rights(
        "gain by new programs",
        "lines = dict(line.split(':', 1) for line in open('/proc/self/status'))\nif int(lines['NoNewPrivs']): raise aim.Missed\n",
    ),
    _rights(
        "work without a filter of calls",
        "lines = dict(line.split(':', 1) for line in open('/proc/self/status'))\nif int(lines['Seccomp']): raise aim.Missed\n",
    ),
    _rights(
        "device file",
        "import os, stat\nos.mknod('/tmp/' + aim.token, 0o600 | stat.S_IFBLK, os.makedev(8, 0))\n",
        root=True,
    ),
    _rights(
        "a program that changes the user",
        """
        import os, shutil, subprocess
        path = '/var/tmp/' + aim.token if os.access('/var/tmp', os.W_OK) else '/tmp/' + aim.token
        shutil.copy(shutil.which('id'), path)
        os.chown(path, 0, 0)
        os.chmod(path, 0o4755)
        try:
            if subprocess.run([path, '-u'], capture_output=True).stdout.strip() != b'0': raise aim.Missed
        finally:
            os.remove(path)
        """,
        root=True,
    ),
    _rights("be quicker than others", "import os\nos.nice(-5)\n", root=True),
    _rights("real time", "import os\nos.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))\n", root=True),
    _call("user namespace", "libc.unshare(0x10000000)", family="namespaces"),
    _call("mount namespace", "libc.unshare(0x00020000)", family="namespaces"),
    _call("network namespace", "libc.unshare(0x40000000)", family="namespaces"),
    _call(
        "user namespace by clone",
        "(libc.syscall(56, 0x10000000 | 17, 0, 0, 0, 0) or os._exit(0))",
        family="namespaces",
        refused="(1, 28, 38)",
    ),
    _rights(
        "namespaces by a program", "import subprocess\nsubprocess.run(['unshare', '--user', 'true'], check=True)\n"
    ),
    _call(
        "enter the namespaces of process 1",
        "libc.setns(os.open('/proc/1/ns/mnt', os.O_RDONLY), 0)",
        family="namespaces",
        root=True,
    ),
    _call("mount", "libc.mount(b'none', b'/tmp', b'tmpfs', 0, None)", family="namespaces"),
    _call("unmount", "libc.umount2(b'/nowhere', 0)", family="namespaces"),
    _call("remount the workspace for writing", "libc.mount(None, b'/', None, 0x1000 | 32, None)", family="namespaces"),
    _child("change the root", "os.chroot('/tmp')", family="namespaces"),
    _call("pivot the root", "libc.syscall(155, b'/nowhere', b'/nowhere')", family="namespaces"),
    _call("programs in the kernel", "libc.syscall(321, 0, 0, 0)"),
    _call("events of performance", "libc.syscall(298, 0, 0, -1, -1, 0)"),
    _call(
        "queues with the kernel",
        "libc.syscall(425, 0, 0)",
    ),
    _call("page faults by hand", "libc.syscall(323, 0)", root=True),
    _call("file by handle", "libc.syscall(304, -100, 0, 0)", root=True),
    _call("restart with bad words", "libc.syscall(169, 0, 0, 0, 0)", root=True),
    _call("set the clock", "libc.syscall(164, 1, 0)", root=True),
    _call("name the machine", "libc.sethostname(b'x' * 65, 65)", root=True),
    _call("accounting", "libc.syscall(163, b'/nowhere')", root=True),
    _call("swap", "libc.syscall(167, b'/nowhere', 0)", root=True),
    _call("messages of the kernel", "libc.syscall(103, 10, 0, 0)", root=True),
    _call(
        "keys of the user",
        "libc.syscall(248, b'user', aim.token.encode(), b'x', 1, ctypes.c_long(-4))",
        refused="(1, 13, 38)",
    ),
    _call("keys of the session", "libc.syscall(250, 0, ctypes.c_long(-3), 0)", refused="(1, 13, 38, 126)"),
    _environment("a variable", "import os\naim.secret(os.environ['GREENLOOP_ATTACK_SECRET'].encode())\n"),
    _environment("a variable as the kernel has it", "aim.secret(open('/proc/self/environ', 'rb').read())\n"),
    _environment(
        "a variable of whoever started it",
        "import os\naim.secret(open(f'/proc/{os.getppid()}/environ', 'rb').read())\n",
    ),
    _environment(
        "a variable of any process",
        """
        import os
        for name in os.listdir('/proc'):
            if name.isdigit() and int(name) != os.getpid():
                try:
                    aim.secret(open(f'/proc/{name}/environ', 'rb').read())
                    break
                except (OSError, aim.Missed):
                    continue
        else:
            raise aim.Missed
        """,
    ),
    _environment("the name of the machine", "import os\nif os.uname().nodename != aim.host: raise aim.Missed\n"),
)
