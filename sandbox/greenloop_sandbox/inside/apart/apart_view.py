"""Restricts the code's process: what it sees of the files, and what it may ask of the kernel. Both are permanent.

By Landlock (Linux 5.13 and newer) it reads everything but the tests, the folder of the sandbox's own files and other
processes, and writes only below its temporary folders. By seccomp it sends no signals, makes no links and no sockets
but those of the internet, and touches no other process. Raises `OSError` where the kernel has no Landlock.
"""

import ctypes
import errno
import os
import platform
import struct

from apart_filters import ALLOWED, EQUAL, FIRST, assemble, denied

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
