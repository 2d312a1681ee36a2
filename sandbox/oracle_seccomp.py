"""Restricts the oracle's candidate process to computing and using its pipes, by a seccomp filter.

The filter is permanent and holds for child processes: no file is opened for writing, created, renamed or removed; no
socket; no signals; no access to another process. Denied calls fail with EPERM.
"""

import ctypes
import platform
import struct

PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
WRITE_FLAGS = 0x1 | 0x2 | 0x40 | 0x200  # O_WRONLY, O_RDWR, O_CREAT, O_TRUNC
_ARCHITECTURE = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
# Calls that open files: number -> offset of the flags in the call's data.
_OPEN_CALLS = {"x86_64": {2: 24, 257: 32}, "aarch64": {56: 32}}
_COMMON_CALLS = {
    "pidfd_send_signal": 424, "io_uring_setup": 425, "pidfd_open": 434, "openat2": 437, "pidfd_getfd": 438,
    "process_madvise": 440, "fchmodat2": 452, "setxattrat": 463, "removexattrat": 466,
}  # fmt: skip
_DENIED_CALLS = {
    "x86_64": {
        "creat": 85, "rename": 82, "renameat": 264, "renameat2": 316, "link": 86, "linkat": 265, "symlink": 88,
        "symlinkat": 266, "unlink": 87, "unlinkat": 263, "mkdir": 83, "mkdirat": 258, "rmdir": 84, "mknod": 133,
        "mknodat": 259, "truncate": 76, "ftruncate": 77, "chmod": 90, "fchmod": 91, "fchmodat": 268, "chown": 92,
        "fchown": 93, "lchown": 94, "fchownat": 260, "setxattr": 188, "lsetxattr": 189, "fsetxattr": 190,
        "removexattr": 197, "lremovexattr": 198, "fremovexattr": 199, "utime": 132, "utimes": 235, "futimesat": 261,
        "utimensat": 280, "kill": 62, "tkill": 200, "tgkill": 234, "rt_sigqueueinfo": 129, "rt_tgsigqueueinfo": 297,
        "ptrace": 101, "process_vm_readv": 310, "process_vm_writev": 311, "socket": 41, "shmget": 29, "msgget": 68,
        "semget": 64, "mq_open": 240, "unshare": 272, "setns": 308, "mount": 165, "umount2": 166,
    },
    "aarch64": {
        "renameat": 38, "renameat2": 276, "linkat": 37, "symlinkat": 36, "unlinkat": 35, "mkdirat": 34, "mknodat": 33,
        "truncate": 45, "ftruncate": 46, "fchmod": 52, "fchmodat": 53, "fchownat": 54, "fchown": 55, "setxattr": 5,
        "lsetxattr": 6, "fsetxattr": 7, "removexattr": 14, "lremovexattr": 15, "fremovexattr": 16, "utimensat": 88,
        "kill": 129, "tkill": 130, "tgkill": 131, "rt_sigqueueinfo": 138, "rt_tgsigqueueinfo": 240, "ptrace": 117,
        "process_vm_readv": 270, "process_vm_writev": 271, "socket": 198, "shmget": 194, "msgget": 186, "semget": 190,
        "mq_open": 180, "unshare": 97, "setns": 268, "mount": 40, "umount2": 39,
    },
}  # fmt: skip

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL, _DENY = 0x7FFF0000, 0x80000000, 0x00050001


def lock_process():
    """Restricts this process. False where that is not possible: nothing may then be run in it."""
    code = filter_program(platform.machine())
    if code is None:
        return False
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        buffer = ctypes.create_string_buffer(code, len(code))
        header = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(code) // 8, ctypes.addressof(buffer)))
        return (
            libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
            and libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, header, 0, 0) == 0
        )
    except (OSError, AttributeError):
        return False


def filter_program(machine):
    """The filter as an array of BPF instructions; None on a machine whose call numbers are not listed here."""
    if machine not in _DENIED_CALLS:
        return None
    code = [
        _instruction(_LOAD, 4),
        _instruction(_EQUAL, _ARCHITECTURE[machine], 1, 0),
        _instruction(_RETURN, _KILL),
        _instruction(_LOAD, 0),
    ]
    if machine == "x86_64":  # the x32 calls are the same calls under other numbers
        code += [_instruction(_AT_LEAST, 0x40000000, 0, 1), _instruction(_RETURN, _DENY)]
    for number in sorted({*_COMMON_CALLS.values(), *_DENIED_CALLS[machine].values()}):
        code += [_instruction(_EQUAL, number, 0, 1), _instruction(_RETURN, _DENY)]
    for number, flags in _OPEN_CALLS[machine].items():
        code += [
            _instruction(_EQUAL, number, 0, 4),
            _instruction(_LOAD, flags),
            _instruction(_ANY_BIT, WRITE_FLAGS, 0, 1),
            _instruction(_RETURN, _DENY),
            _instruction(_RETURN, _ALLOW),
        ]
    return b"".join([*code, _instruction(_RETURN, _ALLOW)])


def _instruction(operation, value, then=0, otherwise=0):
    return struct.pack("<HBBI", operation, then, otherwise, value)
