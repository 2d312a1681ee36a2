"""Restricts the code's process: what it sees of the files, and what it may ask of the kernel. Both are permanent.

By Landlock (Linux 5.13 and newer) it reads everything but the tests, the folder of the sandbox's own files and other
processes, and writes only below its temporary folders. By seccomp it sends no signals, makes no links and no sockets
but those of the internet, and touches no other process. Raises `OSError` where the kernel has no Landlock.
"""

import ctypes
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

_ARCHITECTURE = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_COMMON_CALLS = {
    "pidfd_send_signal": 424, "io_uring_setup": 425, "pidfd_open": 434, "pidfd_getfd": 438, "process_madvise": 440,
    "setxattrat": 463, "removexattrat": 466,
}  # fmt: skip
_CALLS = {
    "x86_64": {
        "link": 86, "linkat": 265, "symlink": 88, "symlinkat": 266, "setxattr": 188, "lsetxattr": 189, "fsetxattr": 190,
        "ptrace": 101, "process_vm_readv": 310, "process_vm_writev": 311, "kcmp": 312, "shmget": 29, "msgget": 68,
        "semget": 64, "mq_open": 240, "unshare": 272, "setns": 308, "mount": 165, "umount2": 166,
    },
    "aarch64": {
        "linkat": 37, "symlinkat": 36, "setxattr": 5, "lsetxattr": 6, "fsetxattr": 7, "ptrace": 117,
        "process_vm_readv": 270, "process_vm_writev": 271, "kcmp": 272, "shmget": 194, "msgget": 186, "semget": 190,
        "mq_open": 180, "unshare": 97, "setns": 268, "mount": 40, "umount2": 39,
    },
}  # fmt: skip
_SIGNALS = {
    "x86_64": {"kill": 62, "tkill": 200, "tgkill": 234, "rt_sigqueueinfo": 129, "rt_tgsigqueueinfo": 297},
    "aarch64": {"kill": 129, "tkill": 130, "tgkill": 131, "rt_sigqueueinfo": 138, "rt_tgsigqueueinfo": 240},
}
_SOCKET, _LIMITS = {"x86_64": 41, "aarch64": 198}, {"x86_64": 302, "aarch64": 261}
_INTERNET = (2, 10)
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOW, _KILL, _DENY, _NUMBER, _FIRST_ARGUMENT = 0x7FFF0000, 0x80000000, 0x00050001, 0, 16


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
    machine = platform.machine()
    if machine not in _CALLS:
        raise OSError("no filter of system calls is known for %s" % machine)
    denied = {**_COMMON_CALLS, **_CALLS[machine], **({} if version >= 6 else _SIGNALS[machine])}
    code = [_step(_LOAD, 4), _step(_EQUAL, _ARCHITECTURE[machine], 1, 0), _step(_RETURN, _KILL), _step(_LOAD, _NUMBER)]
    if machine == "x86_64":  # the x32 calls are the same calls under other numbers
        code += [_step(_AT_LEAST, 0x40000000, 0, 1), _step(_RETURN, _DENY)]
    for number in sorted(denied.values()):
        code += [_step(_EQUAL, number, 0, 1), _step(_RETURN, _DENY)]
    code += [_step(_EQUAL, _SOCKET[machine], 0, 5), _step(_LOAD, _FIRST_ARGUMENT)]
    code += [_step(_EQUAL, _INTERNET[0], 2, 0), _step(_EQUAL, _INTERNET[1], 1, 0), _step(_RETURN, _DENY)]
    code += [_step(_RETURN, _ALLOW)]
    # Limits of this process only (pid 0).
    code += [
        _step(_EQUAL, _LIMITS[machine], 0, 3),
        _step(_LOAD, _FIRST_ARGUMENT),
        _step(_EQUAL, 0, 1, 0),
        _step(_RETURN, _DENY),
    ]
    program = b"".join([*code, _step(_RETURN, _ALLOW)])
    buffer = ctypes.create_string_buffer(program, len(program))
    header = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(buffer)))
    _must(libc.prctl(_PR_SET_SECCOMP, _SECCOMP_FILTER, header, 0, 0), "seccomp")


def _step(operation, value, then=0, otherwise=0):
    return struct.pack("<HBBI", operation, then, otherwise, value)


def _must(result, what):
    if result < 0:
        raise OSError(ctypes.get_errno(), "%s (%s)" % (os.strerror(ctypes.get_errno()), what))
    return result
