"""Restricts the code's process: what it sees of the files, and what it may ask of the kernel. Both are permanent.

By Landlock (Linux 5.13 and newer) it reads everything but the tests, the folder of the sandbox's own files and other
processes, and writes only below its temporary folders. By seccomp it sends no signals, makes no links and no sockets
but those of the internet, and touches no other process. Raises `OSError` where the kernel has no Landlock.

The host assembles the filter of system calls for a worker with the same table of numbers.
"""

import ctypes
import errno
import os
import platform
import struct

_CREATE_RULESET, _ADD_RULE, _RESTRICT = 444, 445, 446
_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _SECCOMP_FILTER, _PR_SET_PDEATHSIG = 38, 22, 2, 1
# Rights on files by the version that introduced them: executing and reading, then what changes something.
_READ, _READ_FILE, _LIST, _WRITE_FILE = 0b1101, 0b101, 0b1000, 0b10
_RIGHTS = {1: (1 << 13) - 1, 2: 1 << 13, 3: 1 << 14, 5: 1 << 15}
_MAKE_LINK, _MAKE_NODES = 1 << 12, (1 << 6) | (1 << 11)
_SCOPES = 0b11  # abstract sockets and signals, from version 6 on
_MEMORY_FOLDERS = ("/dev/shm",)
_DEVICES = tuple("/dev/" + name for name in ("null", "zero", "full", "urandom", "random", "tty"))

_DENIED = (
    "pidfd_send_signal", "io_uring_setup", "pidfd_open", "pidfd_getfd", "process_madvise", "setxattrat",
    "removexattrat", "link", "linkat", "symlink", "symlinkat", "setxattr", "lsetxattr", "fsetxattr", "ptrace",
    "process_vm_readv", "process_vm_writev", "kcmp", "shmget", "msgget", "semget", "mq_open", "unshare", "setns",
    "mount", "umount2",
)  # fmt: skip
_SIGNALS = ("kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo")
_INTERNET = (2, 10)  # families of sockets


def restrict(hidden, visible, writable):
    """Restricts this process and its children. `visible` are files and folders below hidden ones."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_PDEATHSIG, 9, 0, 0, 0)
    _must(libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
    version = libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), 1)
    if version < 1:
        raise OSError("this kernel has no Landlock (Linux 5.13 or newer), so the code could read its tests")
    _restrict_files(libc, version, hidden, visible, writable)
    _restrict_calls(libc, version)


def _restrict_files(libc, version, hidden, visible, writable):
    rights = sum(bits for since, bits in _RIGHTS.items() if since <= version)
    attributes = struct.pack("QQQ", rights, 0, _SCOPES if version >= 6 else 0)
    size = len(attributes) if version >= 6 else 8
    ruleset = _must(libc.syscall(_CREATE_RULESET, attributes, ctypes.c_size_t(size), 0), "landlock")
    changing = rights & ~(_MAKE_LINK | _MAKE_NODES)

    def allow(path, bits):
        try:
            fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            return  # it is gone, or nobody may see it
        try:
            bits &= rights if os.path.isdir(path) else rights & (_READ_FILE | _WRITE_FILE | 1 << 14 | 1 << 15)
            libc.syscall(_ADD_RULE, ruleset, 1, struct.pack("=Qi", bits, fd), 0)
        finally:
            os.close(fd)

    allow("/", _LIST)  # names are seen, as `stat` shows them anyway
    for path in _all_but(hidden):
        allow(path, _READ)
    for path in visible:
        allow(path, _READ)
    for path in (*writable, *_MEMORY_FOLDERS):
        allow(path, changing)
    for path in _DEVICES:
        allow(path, _READ_FILE | _WRITE_FILE | 1 << 15)
    _must(libc.syscall(_RESTRICT, ruleset, 0), "landlock")
    os.close(ruleset)


def _all_but(hidden):
    """The paths that together hold every file but the hidden ones."""
    hidden = {os.path.realpath(path) for path in hidden}
    others = {"/proc/" + name for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid()}
    opened = {"/"}
    for path in hidden | others:
        folder = path
        while len(folder) > 1:
            folder = os.path.dirname(folder)
            opened.add(folder)
    for folder in sorted(opened):
        if any(folder == path or folder.startswith(path + os.sep) for path in hidden):
            continue  # a file in it is hidden too, which shows nothing of the others
        try:
            names = os.listdir(folder)
        except OSError:
            continue
        for name in names:
            path = os.path.join(folder, name)
            if path not in hidden and path not in others and path not in opened and not os.path.islink(path):
                yield path


def _restrict_calls(libc, version):
    forbidden = denied(errno.EPERM)
    names = [(name, forbidden) for name in (*_DENIED, *(() if version >= 6 else _SIGNALS))]
    sockets = tuple((FIRST, EQUAL, family, ALLOWED) for family in _INTERNET)
    of_itself = ((FIRST, EQUAL, 0, ALLOWED),)  # limits of this process only
    program = assemble(names, (("socket", sockets, forbidden), ("prlimit64", of_itself, forbidden)))
    if program is None:
        raise OSError("no filter of system calls is known for %s" % platform.machine())
    buffer = ctypes.create_string_buffer(program, len(program))
    header = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(buffer)))
    _must(libc.prctl(_PR_SET_SECCOMP, _SECCOMP_FILTER, header, 0, 0), "seccomp")


def _must(result, what):
    if result < 0:
        raise OSError(ctypes.get_errno(), "%s (%s)" % (os.strerror(ctypes.get_errno()), what))
    return result


# -- filters of system calls, without a library ---------------------------------------------------------------------

_ARCHITECTURE = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
# The same numbers on every architecture since Linux 5.1.
_COMMON = {
    "pidfd_send_signal": 424, "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427, "open_tree": 428,
    "move_mount": 429, "fsopen": 430, "fsconfig": 431, "fsmount": 432, "fspick": 433, "pidfd_open": 434, "clone3": 435,
    "pidfd_getfd": 438, "process_madvise": 440, "mount_setattr": 442, "quotactl_fd": 443, "memfd_secret": 447,
    "setxattrat": 463, "removexattrat": 466,
}  # fmt: skip
_NUMBERS = {
    "x86_64": {
        "ptrace": 101, "process_vm_readv": 310, "process_vm_writev": 311, "kcmp": 312, "unshare": 272, "setns": 308,
        "mount": 165, "umount2": 166, "pivot_root": 155, "chroot": 161, "bpf": 321, "userfaultfd": 323,
        "perf_event_open": 298, "keyctl": 250, "add_key": 248, "request_key": 249, "kexec_load": 246,
        "kexec_file_load": 320, "init_module": 175, "finit_module": 313, "delete_module": 176, "swapon": 167,
        "swapoff": 168, "reboot": 169, "acct": 163, "quotactl": 179, "syslog": 103, "open_by_handle_at": 304,
        "name_to_handle_at": 303, "personality": 135, "iopl": 172, "ioperm": 173, "modify_ldt": 154,
        "clock_settime": 227, "settimeofday": 164, "sethostname": 170, "setdomainname": 171, "vhangup": 153,
        "clone": 56, "memfd_create": 319, "shmget": 29, "prlimit64": 302, "ioctl": 16, "socket": 41, "msgget": 68,
        "semget": 64, "mq_open": 240, "link": 86, "linkat": 265, "symlink": 88, "symlinkat": 266, "setxattr": 188,
        "lsetxattr": 189, "fsetxattr": 190, "kill": 62, "tkill": 200, "tgkill": 234, "rt_sigqueueinfo": 129,
        "rt_tgsigqueueinfo": 297,
    },
    "aarch64": {
        "ptrace": 117, "process_vm_readv": 270, "process_vm_writev": 271, "kcmp": 272, "unshare": 97, "setns": 268,
        "mount": 40, "umount2": 39, "pivot_root": 41, "chroot": 51, "bpf": 280, "userfaultfd": 282,
        "perf_event_open": 241, "keyctl": 219, "add_key": 217, "request_key": 218, "kexec_load": 104,
        "kexec_file_load": 294, "init_module": 105, "finit_module": 273, "delete_module": 106, "swapon": 224,
        "swapoff": 225, "reboot": 142, "acct": 89, "quotactl": 60, "syslog": 116, "open_by_handle_at": 265,
        "name_to_handle_at": 264, "personality": 92, "clock_settime": 112, "settimeofday": 170, "sethostname": 161,
        "setdomainname": 162, "vhangup": 58, "clone": 220, "memfd_create": 279, "shmget": 194, "prlimit64": 261,
        "ioctl": 29, "socket": 198, "msgget": 186, "semget": 190, "mq_open": 180, "linkat": 37, "symlinkat": 36,
        "setxattr": 5, "lsetxattr": 6, "fsetxattr": 7, "kill": 129, "tkill": 130, "tgkill": 131,
        "rt_sigqueueinfo": 138, "rt_tgsigqueueinfo": 240,
    },
}  # fmt: skip
_LOAD, _RETURN, _NUMBER, _ARCH = 0x20, 0x06, 0, 4
EQUAL, ABOVE, AT_LEAST, ANY_BIT = 0x15, 0x25, 0x35, 0x45  # tests of a value
FIRST, SECOND, SECOND_UPPER = 16, 24, 28  # where the arguments of a call lie: the lower 32 bits of two, the upper ones
ALLOWED, _KILLED = 0x7FFF0000, 0x80000000


def denied(number):
    """The answer to a call that fails with this `errno`."""
    return 0x00050000 | number


def assemble(names, checks, machine=""):
    """The filter of seccomp as an array of BPF instructions; None for a machine whose numbers are not listed here.

    `names`: (name of a call, what it gets). `checks`: (name of a call, ((argument, test, value, what it gets), ...),
    what it gets otherwise); the first test that holds decides. Names that the machine does not have are left out.
    """
    machine = machine or platform.machine()
    if machine not in _NUMBERS:
        return None
    numbers = {**_COMMON, **_NUMBERS[machine]}
    code = [(_LOAD, _ARCH), (EQUAL, _ARCHITECTURE[machine], 1, 0), (_RETURN, _KILLED), (_LOAD, _NUMBER)]
    if machine == "x86_64":  # the x32 calls are the same calls under other numbers
        code += [(AT_LEAST, 0x40000000, 0, 1), (_RETURN, denied(errno.ENOSYS))]
    for name, answer in names:
        if name in numbers:
            code += [(EQUAL, numbers[name], 0, 1), (_RETURN, answer)]
    for name, tests, otherwise in checks:
        code.append((EQUAL, numbers[name], 0, 3 * len(tests) + 1))
        for argument, test, value, answer in tests:
            code += [(_LOAD, argument), (test, value, 0, 1), (_RETURN, answer)]
        code.append((_RETURN, otherwise))
    return b"".join(_step(*each) for each in [*code, (_RETURN, ALLOWED)])


def _step(operation, value, then=0, otherwise=0):
    return struct.pack("<HBBI", operation, then, otherwise, value)
